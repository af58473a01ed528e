/* Included before all of QuickJS. Its sources ask for __wasi__ in two places only, to switch off the check of their stack;
 * the headers of the C library ask for it everywhere, so they come first. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#undef __wasi__
