// Products on the tiles of AMX: a tile is up to 16 rows of 64 bytes, and a thread has eight of them.
//
//   const TileSession session(2, 16);                   // this thread's tiles are set up; released at the end of its scope
//   multiply_tiles({.row_tiles = 2, .a = rows, .b = panels, .b_panel = 24576, .blocks = 24, .panels = 2, .out = sums});
//
// A stands tile by tile, in the order in which it is read, or row by row; B is the panels of packed.h, 16 rows of 64 bytes for each block: bf16 in
// pairs, int8 in fours.
//   int8   sum += Σ A B, exact integers of 32 bits
//   bf16   sum += Σ A B over the even elements of a block, plus the same over its odd ones, each a chain of fused multiply-adds from 0
//          on; one block after the other. f32, ties to even; denormal numbers count as zeros and become zeros.
// So an element's bits depend on its row and column alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fovea::kernels {

// A product's tiles: 2 × 2 of sums with two of A, or for up to 16 rows 1 × 4 with one of A; each of A has `height` rows.
class TileSession final {
 public:
  TileSession(int row_tiles, int height, int64_t bytes_of_a = 64);
  ~TileSession();
  TileSession(const TileSession&) = delete;
  TileSession& operator=(const TileSession&) = delete;
};

inline constexpr int64_t tile_bytes = 64;  // of a row: a block of depth

// What a thread does while its tiles multiply, once after each block.
struct Beside {
  virtual void step() = 0;

 protected:
  ~Beside() = default;
};

struct TileProduct {
  bool whole_numbers = false;  // int8, else bf16
  int row_tiles = 1;           // as in the session
  int64_t height = 16;
  const std::byte* a = nullptr;     // [blocks][row_tiles][height][64]
  int64_t a_stride = 0;             // or rows of all blocks, so many bytes apart: [row_tiles · height][blocks][64]
  const std::byte* b = nullptr;     // `panels` of them, at most four, or two where there are two row tiles
  int64_t b_panel = 0;              // bytes from one panel to the next
  const std::byte* last = nullptr;  // where the last block of each panel stands instead, 1 KB each; or nothing
  int64_t blocks = 0;
  int64_t panels = 1;
  bool add = false;        // `out` holds first summands
  float* out = nullptr;    // [row_tiles · height][16 · panels]: floats, or integers of 32 bits
  int64_t out_stride = 0;  // from row to row, if not 16 · panels
  Beside* beside = nullptr;
};
void multiply_tiles(const TileProduct&);

// Integer sums that are not added up: sums[group][16][16] = Σ A B over each group of 16 or 32 bytes, in a session of two row tiles and
// that many bytes.
struct GroupProduct {
  int64_t bytes = 32;
  const std::byte* a = nullptr;  // rows, a_stride apart, of one group after the other
  int64_t a_stride = 0;
  const std::byte* b = nullptr;  // [groups][bytes / 4][16][4]
  int64_t groups = 0;
  int32_t* sums = nullptr;
};
void multiply_groups(const GroupProduct&);

// For the trial of unit.h: a small product of each kind. Raises SIGILL where there are no tiles.
bool amx_is_right();
void release_tiles();

// Rounds of 2 × 2 products in tiles that are loaded once; returns the operations, a multiply-add being two.
int64_t amx_burst(bool whole_numbers, int64_t rounds);

}  // namespace fovea::kernels
