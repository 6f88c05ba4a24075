/* What host and client of the game agree on: types of messages and keys of the board. */
#ifndef SUMO_GAME_H
#define SUMO_GAME_H

enum {
    SUMO_SHOVE = 1, /* client to host, no bytes: use the star, and throw the other player back */
    SUMO_SAYS = 2   /* host to clients: a line of text */
};

/* Keys of the board; the values are text.
 *   phase   "waiting", "playing" or "over"
 *   score   points of player_1 and player_2, for example "2:1"
 *   star    the slot that has the star, "0" or "1"; no such key: nobody */
#define SUMO_PHASE "phase"
#define SUMO_SCORE "score"
#define SUMO_STAR "star"

#endif
