// SPDX-License-Identifier: Apache-2.0
// LOSSGRAD_ADDRESS_SANITIZER: defined where the program is built with the address sanitizer.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define LOSSGRAD_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOSSGRAD_ADDRESS_SANITIZER 1
#endif
#endif
