#include "objectstore/s3_xml.h"

#include <gmock/gmock.h>

#include "objectstore/xml_reader.h"

namespace swamp {
namespace {

using testing::HasSubstr;

// A page in the form of AWS, with these elements after the usual ones.
std::string Page(std::string_view elements) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>bucket</Name>" +
         std::string(elements) + "</ListBucketResult>";
}

std::string Object(std::string_view key) {
  return "<Contents><Key>" + std::string(key) +
         "</Key><LastModified>2026-12-01T15:29:01.000Z</LastModified><ETag>&quot;abc&quot;</"
         "ETag><Size>12</Size>"
         "<Owner><ID>1</ID><DisplayName>x</DisplayName></Owner><StorageClass>STANDARD</"
         "StorageClass></Contents>";
}

std::string ProblemOf(std::string_view xml) {
  S3Listing listing;
  return ParseS3Listing(xml, listing);
}

TEST(S3Listing, ReadsKeysSizesTimesAndEtags) {
  S3Listing listing;
  const std::string xml = Page(
      "<IsTruncated>true</IsTruncated><NextContinuationToken>t+/=</NextContinuationToken>"
      "<KeyCount>2</KeyCount><EncodingType>url</EncodingType>" +
      Object("a%20b/%C3%A4%2B") + Object("a+c/&amp;%3C"));
  ASSERT_EQ(ParseS3Listing(xml, listing), "");
  ASSERT_EQ(listing.objects.size(), 2U);
  EXPECT_EQ(listing.objects[0].key, "a b/\xc3\xa4+");
  EXPECT_EQ(listing.objects[0].etag.value, "abc");
  EXPECT_EQ(listing.objects[0].size, 12U);
  EXPECT_EQ(listing.objects[0].last_modified, ParseTime("2026-12-01T15:29:01Z"));
  EXPECT_EQ(listing.objects[1].key, "a c/&<");
  EXPECT_EQ(listing.next_token, "t+/=");
}

// DS-75
TEST(S3Listing, KeysThatAreNotUrlEncodedAreTakenAsTheyAre) {
  S3Listing listing;
  ASSERT_EQ(
      ParseS3Listing(Page("<IsTruncated>false</IsTruncated>" + Object("a%20b+&lt;")), listing), "");
  EXPECT_EQ(listing.objects.at(0).key, "a%20b+<");
  EXPECT_EQ(listing.next_token, "");
}

TEST(S3Listing, AnEmptyPageIsAPage) {
  S3Listing listing;
  EXPECT_EQ(ParseS3Listing(Page("<KeyCount>0</KeyCount><IsTruncated>false</IsTruncated>"), listing),
            "");
  EXPECT_TRUE(listing.objects.empty());
}

// DS-10
TEST(S3Listing, APageThatIsNotWholeIsRefused) {
  const std::string whole =
      Page("<IsTruncated>false</IsTruncated><KeyCount>1</KeyCount>" + Object("a"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(ProblemOf(std::string_view(whole).substr(0, size)), "") << size;
  }
  EXPECT_EQ(ProblemOf(whole), "");
  EXPECT_THAT(ProblemOf(Page(Object("a"))), HasSubstr("last page"));
  EXPECT_THAT(ProblemOf(Page("<IsTruncated>true</IsTruncated>" + Object("a"))),
              HasSubstr("name the next"));
  EXPECT_THAT(
      ProblemOf(Page("<IsTruncated>false</IsTruncated><KeyCount>2</KeyCount>" + Object("a"))),
      HasSubstr("counts 2 keys, but has 1"));
  EXPECT_THAT(ProblemOf(Page("<IsTruncated>false</IsTruncated>" + Object("b") + Object("a"))),
              HasSubstr("out of order"));
  EXPECT_THAT(ProblemOf(Page("<IsTruncated>false</IsTruncated>" + Object("a") + Object("a"))),
              HasSubstr("out of order"));
  EXPECT_THAT(ProblemOf(Page("<IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents>")),
              HasSubstr("lacks size"));
  EXPECT_THAT(ProblemOf(Page("<IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>" +
                             Object("a%2"))),
              HasSubstr("encoded"));
  EXPECT_THAT(ProblemOf("<html><body>502</body></html>"), HasSubstr("ListBucketResult"));
  EXPECT_NE(ProblemOf("<Error><Code>AccessDenied</Code></Error>"), "");
  EXPECT_NE(ProblemOf(""), "");
  EXPECT_NE(ProblemOf("{}"), "");
}

TEST(S3Error, ReadsCodeMessageAndRegion) {
  const S3ErrorBody error = ParseS3Error(
      "<?xml version=\"1.0\"?><Error><Code>AuthorizationHeaderMalformed</Code><Message>wrong "
      "&lt;region&gt;</Message>"
      "<Region>eu-west-1</Region><RequestId>4442587FB7D0A2F9</RequestId></Error>");
  EXPECT_EQ(error.code, "AuthorizationHeaderMalformed");
  EXPECT_EQ(error.message, "wrong <region>");
  EXPECT_EQ(error.region, "eu-west-1");
  EXPECT_EQ(error.request_id, "4442587FB7D0A2F9");
}

// DS-71
TEST(S3Error, WhatIsNoErrorHasNoCode) {
  for (const char* body : {"", "<html><h1>Bad Gateway</h1><br></html>", "<Error><Code>Half",
                           "Error", "\xff\xfe", "<Code>NoSuchKey</Code>"}) {
    EXPECT_EQ(ParseS3Error(body).code, "") << body;
  }
}

TEST(XmlReader, RefusesDocumentTypesAndWithThemEntities) {
  const auto nothing = [](std::string_view, std::string_view) {};
  EXPECT_THAT(
      ReadXml("<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>", nothing),
      HasSubstr("document type"));
  EXPECT_NE(ReadXml("<a>&x;</a>", nothing), "");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_THAT(ReadXml(deep, nothing), HasSubstr("deep"));
}

TEST(XmlReader, WhatTheCallerThrowsReachesTheCaller) {
  EXPECT_THROW(
      ReadXml("<a/>", [](std::string_view, std::string_view) { throw std::runtime_error("x"); }),
      std::runtime_error);
}

TEST(WithoutQuotes, TakesOffOnePairAndNothingElse) {
  EXPECT_EQ(WithoutQuotes("\"abc\""), "abc");
  EXPECT_EQ(WithoutQuotes("abc"), "abc");
  EXPECT_EQ(WithoutQuotes("\"abc-2\""), "abc-2");
  EXPECT_EQ(WithoutQuotes("W/\"abc\""), "W/\"abc\"");
  EXPECT_EQ(WithoutQuotes("\""), "\"");
  EXPECT_EQ(WithoutQuotes("\"ABC\""), "ABC");
}

}  // namespace
}  // namespace swamp
