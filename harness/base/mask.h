// mask: hides the values of arguments and variables whose names say that they are secret, in everything that
// is meant to be shared: journal, reports, evidence, console. The one file that knows which names these are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"

namespace rankfault {

inline constexpr std::string_view kMasked = "***";

// One part of the name is secret, token, key, password, passwd, passphrase or apikey, or the plural of one.
// Parts are split at whatever is no letter or digit, and where camelCase begins a word: API_KEY, --apiKey and
// hf.tokens are secret, KEYBOARD and --tokenizer are not.
bool names_secret(std::string_view name);

std::string masked_value(const std::string& name, const std::string& value);
// The mask and a number, the same one for equal values as long as this process lives.
std::string comparable_mask(const std::string& value);

// Of a command: "--token XYZ", "--api-key=XYZ", "DB_PASSWORD=XYZ" and hydra's "-genv API_KEY XYZ". Whether an
// option takes a value is not known, so the word after a secret one is hidden whatever it looks like: a
// secret may begin with
// "--". Where that word names a secret itself, the word after it is hidden, too.
std::vector<std::string> masked_words(const std::vector<std::string>& words);

// The same in running text, and "token": "XYZ" and token: XYZ as in JSON and YAML. After NAME= or an option a
// value that is not quoted ends at a blank.
std::string masked_text(const std::string& text);

// All texts in it. A list of texts is taken for the words of a command, an object's key for a name.
void mask(Json&);
Json masked(Json);

}  // namespace rankfault
