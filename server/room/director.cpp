#include "server/room/director.h"

namespace orrery::server {

JoinAnswer Director::on_join_request(const JoinRequest& request) {
    return request.role == protocol::TokenRole::player ? JoinAnswer::seat() : JoinAnswer::spectator();
}

}  // namespace orrery::server
