// The constraints between bodies: a description for each, and the variant that holds any of them.
#pragma once

#include "sim/constraints/list.h"
#include "sim/constraints/settings.h"
