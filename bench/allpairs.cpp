// AllPairs (Bayardo, Ma and Srikant, WWW 2007) for a Jaccard similarity of p/q, with sizes and integers as in Mann, Augsten
// and Bouros (PVLDB 9(9), 2016): the yardstick of `scripts/bench joins`. One thread, no filters but prefix and size, and a
// merge that ends where the answer is certain.
//
//   allpairs FILE p q OUT      prints the CPU seconds from the sets in memory to the pairs in memory
//
// FILE: int64 n, int64 offsets[n + 1], int64 items[offsets[n]]. OUT: int64 a, b of each pair, by numbers of the sets.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <unordered_map>
#include <vector>

using Int = int64_t;

struct Posting {
    int32_t set, place;
};

static Int ceiling(Int num, Int den) { return (num + den - 1) / den; }

static std::vector<Int> read_all(const char *name) {
    FILE *file = std::fopen(name, "rb");
    if (!file) std::exit(2);
    std::fseek(file, 0, SEEK_END);
    std::vector<Int> words(std::ftell(file) / sizeof(Int));
    std::rewind(file);
    if (std::fread(words.data(), sizeof(Int), words.size(), file) != words.size()) std::exit(2);
    std::fclose(file);
    return words;
}

// Whether two sets, of which `shared` items are known, share `need` from places i and j on.
static bool reaches(const std::vector<int32_t> &a, const std::vector<int32_t> &b, Int i, Int j, Int shared, Int need) {
    const Int size_a = a.size(), size_b = b.size();
    Int most_a = shared + size_a - i, most_b = shared + size_b - j;
    while (most_a >= need && most_b >= need && shared < need) {
        if (i == size_a || j == size_b) return false;
        if (a[i] == b[j]) {
            ++shared, ++i, ++j;
        } else if (a[i] < b[j]) {
            ++i, --most_a;
        } else {
            ++j, --most_b;
        }
    }
    return shared >= need;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    const std::vector<Int> words = read_all(arguments[1]);
    const Int p = std::atoll(arguments[2]), q = std::atoll(arguments[3]), n = words[0];
    const Int *offsets = &words[1], *items = &words[n + 2];
    const std::clock_t began = std::clock();

    // items by rarity, sets by size
    std::unordered_map<Int, int32_t> number;
    std::vector<Int> often;
    std::vector<int32_t> numbers(offsets[n]);
    for (Int i = 0; i < offsets[n]; ++i) {
        const auto found = number.emplace(items[i], int32_t(often.size())).first;
        if (found->second == int32_t(often.size())) often.push_back(0);
        numbers[i] = found->second;
        ++often[found->second];
    }
    std::vector<int32_t> order(often.size()), rank(often.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return often[a] < often[b]; });
    for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = int32_t(i);
    std::vector<Int> which(n);
    std::iota(which.begin(), which.end(), 0);
    std::stable_sort(which.begin(), which.end(), [&](Int a, Int b) {
        return offsets[a + 1] - offsets[a] < offsets[b + 1] - offsets[b];
    });
    std::vector<std::vector<int32_t>> sets(n);
    for (Int s = 0; s < n; ++s) {
        for (Int i = offsets[which[s]]; i < offsets[which[s] + 1]; ++i) sets[s].push_back(rank[numbers[i]]);
        std::sort(sets[s].begin(), sets[s].end());
    }

    std::vector<std::vector<Posting>> lists(often.size());
    std::vector<size_t> starts(often.size());  // of each list: what is before it is too small for all that come
    std::vector<int32_t> shared(n), last_a(n), last_b(n), candidates;
    std::vector<Int> pairs;
    for (Int s = 0; s < n; ++s) {
        const std::vector<int32_t> &set = sets[s];
        const Int size = set.size(), least = ceiling(p * size, q);
        if (size == 0) continue;
        for (Int i = 0; i <= size - least; ++i) {
            std::vector<Posting> &list = lists[set[i]];
            size_t &start = starts[set[i]];
            while (start < list.size() && Int(sets[list[start].set].size()) < least) ++start;
            for (size_t k = start; k < list.size(); ++k) {
                const int32_t other = list[k].set;
                if (shared[other]++ == 0) candidates.push_back(other);
                last_a[other] = int32_t(i + 1), last_b[other] = list[k].place + 1;
            }
        }
        for (const int32_t other : candidates) {
            const Int need = ceiling(p * (size + Int(sets[other].size())), p + q);
            if (reaches(set, sets[other], last_a[other], last_b[other], shared[other], need)) {
                pairs.push_back(std::min(which[s], which[other]));
                pairs.push_back(std::max(which[s], which[other]));
            }
            shared[other] = 0;
        }
        candidates.clear();
        for (Int i = 0; i <= size - ceiling(2 * p * size, p + q); ++i) lists[set[i]].push_back({int32_t(s), int32_t(i)});
    }
    std::printf("%.6f\n", double(std::clock() - began) / CLOCKS_PER_SEC);
    FILE *out = std::fopen(arguments[4], "wb");
    if (!out || std::fwrite(pairs.data(), sizeof(Int), pairs.size(), out) != pairs.size()) return 2;
    return std::fclose(out);
}
