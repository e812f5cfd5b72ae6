import { createHash } from "node:crypto"
import type { RedisScript } from "../redis/redis-connection.ts"

/** Parts of a shared cache. More would leave less room for the largest entry, fewer would not spread over the nodes of a cluster. */
export const cacheParts = 16

/**
 * Keys of both scripts: the entry, then the index of its part. `order`: members by the time of their last use; `ends`: by their expiry; `sizes`: the cost of
 * each, and under the empty name that of all. Arguments of both begin with the prefix of entries and the member. All times are of the server's clock, but for
 * uses, where a process with a wrong clock only changes what leaves first.
 */
const common = `
local prefix, member = ARGV[1], ARGV[2]
local order, ends, sizes = KEYS[2], KEYS[3], KEYS[4]

local function drop(gone)
  local size = redis.call('HGET', sizes, gone)
  if size then
    redis.call('HDEL', sizes, gone)
    redis.call('HINCRBY', sizes, '', -size)
  end
  redis.call('ZREM', order, gone)
  redis.call('ZREM', ends, gone)
  redis.call('DEL', prefix .. gone)
end
`

/** Entries that one call gives up, so that it blocks the server for about a millisecond only. */
const droppedMax = 200

/**
 * Stores an entry. Arguments: prefix, member, value, lifetime in milliseconds, cost, room of the part. Returns how many live entries left for it; negative (less
 * one): the entry was not stored, because so many small entries would have to leave that the next one finds the room.
 */
export const keepScript = scriptOf(`${common}
local lifetime, cost, room = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
drop(member)
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, ${droppedMax})) do drop(gone) end
local evicted = 0
while tonumber(redis.call('HGET', sizes, '') or 0) + cost > room do
  local oldest = redis.call('ZRANGE', order, 0, 0)[1]
  if not oldest then
    redis.call('DEL', sizes)
    break
  end
  if evicted == ${droppedMax} then return -1 - evicted end
  drop(oldest)
  evicted = evicted + 1
end
redis.call('SET', KEYS[1], ARGV[3], 'PX', lifetime)
redis.call('ZADD', order, now, member)
redis.call('ZADD', ends, now + lifetime, member)
redis.call('HSET', sizes, member, cost)
redis.call('HINCRBY', sizes, '', cost)
for i = 2, 4 do
  if redis.call('PTTL', KEYS[i]) < lifetime then redis.call('PEXPIRE', KEYS[i], lifetime) end
end
return evicted
`)

/** Removes an entry. Arguments: prefix, member. */
export const dropScript = scriptOf(`${common}
drop(member)
return 0
`)

function scriptOf(text: string): RedisScript {
  return { text, sha: createHash("sha1").update(text).digest("hex") }
}
