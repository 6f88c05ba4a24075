// Tells a step's observer, if there is one, of a stage's begin and end.
#pragma once

#include "sim/base/stage.h"

namespace orrery::sim {

class StageScope {
  public:
    StageScope(StageObserver* observer, Stage stage) : observer_(observer), stage_(stage) {
        if (observer_) observer_->begin(stage_);
    }
    ~StageScope() {
        if (observer_) observer_->end(stage_);
    }
    StageScope(const StageScope&) = delete;
    StageScope& operator=(const StageScope&) = delete;

  private:
    StageObserver* observer_;
    Stage stage_;
};

}  // namespace orrery::sim
