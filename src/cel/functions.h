#pragma once

#include "cel/call.h"

// The functions of the library; library.cc says by which names and for which types. Each is called only
// with arguments of the kinds listed there.
namespace swamp::cel::functions {

// standard_functions.cc
Value Size(Call& call);
Value ToBool(Call& call);
Value ToBytes(Call& call);
Value ToDouble(Call& call);
Value ToDyn(Call& call);
Value ToInt(Call& call);
Value ToString(Call& call);
Value ToUint(Call& call);
Value TypeOf(Call& call);
Value Contains(Call& call);
Value EndsWith(Call& call);
Value StartsWith(Call& call);
Value Matches(Call& call);

// time_functions.cc
Value ToTimestamp(Call& call);
Value ToDuration(Call& call);
Value GetDate(Call& call);
Value GetDayOfMonth(Call& call);
Value GetDayOfWeek(Call& call);
Value GetDayOfYear(Call& call);
Value GetFullYear(Call& call);
Value GetHours(Call& call);
Value GetMilliseconds(Call& call);
Value GetMinutes(Call& call);
Value GetMonth(Call& call);
Value GetSeconds(Call& call);

// string_functions.cc
Value CharAt(Call& call);
Value IndexOf(Call& call);
Value Join(Call& call);
Value LastIndexOf(Call& call);
Value LowerAscii(Call& call);
Value Quote(Call& call);
Value Replace(Call& call);
Value ReverseText(Call& call);
Value Split(Call& call);
Value Substring(Call& call);
Value Trim(Call& call);
Value UpperAscii(Call& call);

// format_function.cc
Value Format(Call& call);

// bytes_functions.cc
Value Base64EncodeBytes(Call& call);
Value Base64DecodeText(Call& call);
Value ByteAt(Call& call);
Value BytesHex(Call& call);
Value BytesJson(Call& call);

// math_functions.cc
Value Abs(Call& call);
Value BitAnd(Call& call);
Value BitNot(Call& call);
Value BitOr(Call& call);
Value BitShiftLeft(Call& call);
Value BitShiftRight(Call& call);
Value BitXor(Call& call);
Value Ceil(Call& call);
Value Floor(Call& call);
Value Greatest(Call& call);
Value IsFinite(Call& call);
Value IsInf(Call& call);
Value IsNaN(Call& call);
Value Least(Call& call);
Value Round(Call& call);
Value Sign(Call& call);
Value Sqrt(Call& call);
Value Trunc(Call& call);

// list_functions.cc
Value Distinct(Call& call);
Value First(Call& call);
Value Flatten(Call& call);
Value Last(Call& call);
Value Range(Call& call);
Value ReverseList(Call& call);
Value Slice(Call& call);
Value Sort(Call& call);

// optional_functions.cc
Value HasValue(Call& call);
Value OptionalNone(Call& call);
Value OptionalOf(Call& call);
Value OptionalOfNonZero(Call& call);
Value OptionalValue(Call& call);
Value Unwrap(Call& call);

// network_functions.cc
Value CidrContainsCidr(Call& call);
Value CidrContainsIp(Call& call);
Value CidrIp(Call& call);
Value CidrMasked(Call& call);
Value CidrPrefixLength(Call& call);
Value IpFamily(Call& call);
Value IsCanonicalIp(Call& call);
Value IsCidr(Call& call);
Value IsGlobalUnicast(Call& call);
Value IsIp(Call& call);
Value IsLinkLocalMulticast(Call& call);
Value IsLinkLocalUnicast(Call& call);
Value IsLoopback(Call& call);
Value IsUnspecified(Call& call);
Value ToCidr(Call& call);
Value ToIp(Call& call);

}  // namespace swamp::cel::functions
