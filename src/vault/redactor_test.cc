#include "vault/redactor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "util/digest.h"
#include "util/text.h"
#include "vault/secret_forms.h"

namespace swamp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Redacted(std::initializer_list<std::string> secrets, std::string_view text) {
  Redactor redactor;
  for (const std::string& secret : secrets) redactor.Add(secret);
  return redactor.Redact(text);
}

// By the definition: marks every byte of every match of every form, and makes each run of overlapping matches a mask.
std::string ByDefinition(const std::vector<std::string>& secrets, const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> matches;
  for (const std::string& secret : secrets) {
    for (const std::string& form : FormsOfSecret(secret)) {
      for (std::size_t at = text.find(form); at != std::string::npos; at = text.find(form, at + 1)) {
        matches.emplace_back(at, at + form.size());
      }
    }
  }
  std::sort(matches.begin(), matches.end());
  std::string out;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < matches.size();) {
    auto [begin, end] = matches[i];
    for (; i < matches.size() && (matches[i].first < end || matches[i].first == begin); ++i) {
      end = std::max(end, matches[i].second);
    }
    out += text.substr(shown, begin - shown) + "***";
    shown = end;
  }
  return out + text.substr(shown);
}

TEST(Redactor, ReplacesSecretsAndLeavesTheRest) {
  EXPECT_EQ(Redacted({"s3cret"}, "a s3cret, s3crets3cret."), "a ***, ******.");
  EXPECT_EQ(Redacted({}, "a s3cret"), "a s3cret");
  EXPECT_EQ(Redacted({"ab", ""}, "abc ab"), "abc ab") << "values under 3 bytes are left alone";
  EXPECT_EQ(Redacted({"abc"}, "abc"), "***");
}

TEST(Redactor, TakesTheLongestAndAllThatOverlappingOnesCover) {
  EXPECT_EQ(Redacted({"token", "token-long"}, "token-long token"), "*** ***");
  EXPECT_EQ(Redacted({"abcd", "cdefgh"}, "xabcdefghx"), "x***x");
  EXPECT_EQ(Redacted({"aaa"}, "aaaaa"), "***");
}

TEST(Redactor, KnowsWhatProgramsMakeOfASecret) {
  const std::string secret = "p\"w\\ /<&>'é$`\t+=x\n#!";
  Redactor redactor;
  redactor.Add(secret);
  const auto hides = [&](const std::string& form) {
    EXPECT_EQ(redactor.Redact("before " + form + " after"), "before *** after") << form;
  };
  hides(secret);
  for (const bool ascii : {false, true}) {
    const std::string quoted = Json(secret).dump(-1, ' ', ascii);
    hides(quoted.substr(1, quoted.size() - 2));
  }
  hides(Base64Encode(secret));
  hides(ReplaceAll(ReplaceAll(Base64Encode(secret), "+", "-"), "/", "_"));
  hides(PercentEncode(secret));
  hides(ReplaceAll(PercentEncode(secret), "%20", "+"));
  hides(PercentEncode(secret, "!'()*"));
  hides(ReplaceAll(secret, "'", R"('\'')"));
  hides(R"(p\"w\\ /<&>'é\$\`)" "\t+=x\n#!");
  EXPECT_EQ(Redacted({"a/b c"}, "a%2fb%20c a%2Fb+c"), "*** ***");
  EXPECT_EQ(Redacted({"pass&word"}, R"({"x":"pass\u0026word"})"), R"({"x":"***"})");
}

TEST(Redactor, FindsBase64AtEveryAlignment) {
  const std::string secret = "correct horse battery";
  Redactor redactor;
  redactor.Add(secret);
  for (const std::string before : {"", "u", "us", "use", "user:"}) {
    for (const std::string after : {"", "1", "12", "123"}) {
      const std::string text = redactor.Redact(Base64Encode(before + secret + after));
      EXPECT_THAT(text, HasSubstr("***"));
      EXPECT_LE(text.size(), 3 + (before.size() + after.size()) * 2 + 6) << text;
    }
  }
}

TEST(Redactor, FindsBase64ThatIsWrapped) {
  std::string secret;
  for (int i = 0; i < 40; ++i) secret += "part" + std::to_string(i);
  Redactor redactor;
  redactor.Add(secret);
  for (const std::size_t width : {64U, 76U}) {
    std::string text;
    const std::string whole = Base64Encode(secret + "\n");
    for (std::size_t i = 0; i < whole.size(); i += width) text += whole.substr(i, width) + "\n";
    EXPECT_LT(redactor.Redact(text).size(), 12U) << redactor.Redact(text);
  }
}

// VA-16
TEST(Redactor, VA16_HidesEachLongerLineOfAValueOfSeveralLines) {
  const std::string secret = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\r\nshort\nhkiG9w0BAQEFAASC\n-----END KEY-----\n";
  Redactor redactor;
  redactor.Add(secret);
  EXPECT_EQ(redactor.Redact(secret), "***");
  EXPECT_EQ(redactor.Redact("MIIEvQIBADANBgkq\nshort\nhkiG9w0BAQEFAASC\n"), "***\nshort\n***\n");
  EXPECT_EQ(redactor.Redact(secret.substr(0, secret.size() - 1) + "x"), "***x") << "shells drop the last line end";
  EXPECT_EQ(Redacted({"abc\n"}, "abc."), "***.");
}

TEST(Redactor, OB07_ShortValuesAndLinesOfBracesAreNoSecrets) {
  const std::string document = "{\n  \"token\": \"abcdefgh\",\n  \"more\": [\n  ]\n}\n";
  Redactor redactor;
  for (const std::string& secret : {std::string("x"), std::string("{\n"), std::string("%s"), document}) redactor.Add(secret);
  EXPECT_EQ(redactor.Redact("x = {\n  ]\n}\n%s"), "x = {\n  ]\n}\n%s") << "nothing of it tells anything";
  EXPECT_EQ(redactor.Redact(document), "***");
  EXPECT_EQ(redactor.Redact("[\n  \"token\": \"abcdefgh\",\n]"), "[\n***\n]");
  const std::string wrapped = "user:" + document + "!";
  EXPECT_THAT(redactor.Redact(Base64Encode(wrapped)), HasSubstr("***"));
  EXPECT_EQ(Redacted({"100%\"of\\it", "100%\"of\\it and more"}, "a 100%\"of\\it and more b 100%\\\"of\\\\it c"), "a *** b *** c");
}

TEST(Redactor, RedactsJsonAtAnyDepth) {
  Redactor redactor;
  redactor.Add("s3cret");
  redactor.Add("4711");
  const Json value = {{"a", {"x s3cret", 1, nullptr, {{"s3cret", true}, {"***", "k"}}}}, {"n", 4711}, {"m", 47110}};
  const std::string wanted = R"json({"a":["x ***",1,null,{"***":true,"*** (2)":"k"}],"n":"***","m":47110})json";
  EXPECT_EQ(redactor.Redact(value).dump(), wanted);
}

TEST(Redactor, VA16_FindsSecretsAcrossAllBorders) {
  const std::string text = "xx first-secret yy first-secre first-first-secret second";
  Redactor redactor;
  redactor.Add("first-secret");
  redactor.Add("second");
  const std::string wanted = "xx *** yy first-secre first-*** ***";
  for (std::size_t a = 0; a <= text.size(); ++a) {
    for (std::size_t b = a; b <= text.size(); ++b) {
      Redactor::Stream stream(redactor);
      std::string out = stream.Push(text.substr(0, a));
      out += stream.Push(text.substr(a, b - a));
      out += stream.Push(text.substr(b));
      out += stream.Finish();
      ASSERT_EQ(out, wanted) << a << " " << b;
    }
  }
}

TEST(Redactor, AStreamHoldsBackOnlyWhatMayBeASecret) {
  Redactor redactor;
  redactor.Add("secret");
  Redactor::Stream stream(redactor);
  EXPECT_EQ(stream.Push("a line without\nand a question? "), "a line without\nand a question? ");
  EXPECT_EQ(stream.Push("sec"), "");
  EXPECT_EQ(stream.Push("ond"), "second");
  EXPECT_EQ(stream.Push("secret"), "***") << "nothing can make it longer";
  EXPECT_EQ(stream.Push("secr"), "");
  EXPECT_EQ(stream.Finish(), "secr");
  EXPECT_EQ(stream.Push("et secret"), "et ***") << "a stream starts anew";
}

TEST(Redactor, AStreamLearnsSecretsThatAreAddedMeanwhile) {
  Redactor redactor;
  Redactor::Stream stream(redactor);
  EXPECT_EQ(stream.Push("new-secret "), "new-secret ");
  redactor.Add("secret");
  EXPECT_EQ(stream.Push("x secret sec"), "x *** ");
  redactor.Add("new-value");
  EXPECT_EQ(stream.Push("ret new-"), "*** ");
  redactor.Add("w-value!");
  EXPECT_EQ(stream.Push("value! x"), "*** x");
  EXPECT_EQ(stream.Finish(), "");
}

TEST(Redactor, AgreesWithItsDefinition) {
  std::mt19937 random(20261202);
  const auto text_of = [&](std::size_t length, int letters) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += "ab\nc%2"[random() % static_cast<unsigned>(letters)];
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    const int letters = 2 + static_cast<int>(random() % 5);
    std::vector<std::string> secrets;
    Redactor redactor;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      secrets.push_back(text_of(3 + random() % 9, letters));
      redactor.Add(secrets.back());
    }
    std::string text = text_of(random() % 60, letters);
    text.insert(random() % (text.size() + 1), secrets.front());
    Redactor::Stream stream(redactor);
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = random() % 7;
      out += stream.Push(std::string_view(text).substr(at, length));
      at += length;
    }
    out += stream.Finish();
    ASSERT_EQ(out, ByDefinition(secrets, text)) << Join(secrets, " | ") << "\n" << text;
    ASSERT_EQ(redactor.Redact(text), out);
  }
}

TEST(Redactor, TakesLinearTimeInTheWorstCase) {
  Redactor redactor;
  redactor.Add(std::string(1 << 20, 'a') + "b");
  const std::string text(8 << 20, 'a');
  Redactor::Stream stream(redactor);
  std::string out = stream.Push(text);  // a quadratic search would take hours
  EXPECT_GE(out.size(), text.size() - (1 << 22));
  out += stream.Finish();
  EXPECT_EQ(out.size(), text.size());
}

TEST(Redactor, TakesLargeTextsWhole) {
  Redactor redactor;
  redactor.Add("s3cret-value");
  std::string text;
  std::string wanted;
  for (int i = 0; i < 30000; ++i) {
    text += "line " + std::to_string(i) + " of the log s3cret-value s3cret-valu\n";
    wanted += "line " + std::to_string(i) + " of the log *** s3cret-valu\n";
  }
  EXPECT_TRUE(redactor.Redact(text) == wanted);
}

TEST(Redactor, MayBeUsedFromSeveralThreads) {
  Redactor redactor;
  std::thread adds([&] {
    for (int i = 0; i < 200; ++i) redactor.Add("secret-number-" + std::to_string(i));
  });
  for (int i = 0; i < 200; ++i) EXPECT_THAT(redactor.Redact("nothing here"), "nothing here");
  adds.join();
  EXPECT_THAT(redactor.Redact("x secret-number-150 x"), Not(HasSubstr("secret-number")));
}

}  // namespace
}  // namespace swamp
