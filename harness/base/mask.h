// mask: hides the values of arguments and variables with secret names in everything that may be shared:
// journal, reports, evidence, console. Only this file defines which names are secret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"

namespace rankfault {

inline constexpr std::string_view kMasked = "***";

// Whether a part of the name is secret, token, key, password, passwd, passphrase or apikey, or the plural of
// one. Parts are separated by characters other than letters and digits, and by the start of a camelCase word:
// API_KEY, --apiKey and hf.tokens are secret, KEYBOARD and --tokenizer are not.
bool names_secret(std::string_view name);

std::string masked_value(const std::string& name, const std::string& value);
// Returns the mask and a number, which is the same for equal values during the life of this process.
std::string comparable_mask(const std::string& value);

// For a command: "--token XYZ", "--api-key=XYZ", "DB_PASSWORD=XYZ" and hydra's "-genv API_KEY XYZ". Whether
// an option takes a value is unknown, so the word after a secret one is always hidden: a secret may begin
// with "--". If that word itself names a secret, the next word is hidden, too.
std::vector<std::string> masked_words(const std::vector<std::string>& words);

// The same for running text, and for "token": "XYZ" and token: XYZ as in JSON and YAML. An unquoted value
// after NAME= or an option ends at a blank.
std::string masked_text(const std::string& text);

// Masks all texts in it. A list of texts is treated as the words of a command, and an object's key as a name.
void mask(Json&);
Json masked(Json);

}  // namespace rankfault
