import { createHash } from "node:crypto"

/**
 * The windows of sliding-windows.ts in a value of the server: time of the last counted call in milliseconds, then for each part with calls its age
 * relative to the part of the last call (a byte) and its count (4 bytes): at most 313 bytes. The first argument is the time in milliseconds, for tests
 * (empty: the server's clock, which all processes share). Then come for each key: calls at most (-1: count in any case), period in milliseconds, amount.
 * Returns for each key: whether the calls are allowed, the calls in the window, and milliseconds until enough have left.
 */
const text = `
local function now_ms()
  if ARGV[1] ~= '' then return tonumber(ARGV[1]) end
  local t = redis.call('TIME')
  return t[1] * 1000 + t[2] / 1000
end

local clock = now_ms()
local out = {}
for i = 1, #KEYS do
  local max = tonumber(ARGV[i * 3 - 1])
  local period = tonumber(ARGV[i * 3])
  local amount = tonumber(ARGV[i * 3 + 1])
  local width = period / 60
  local now = clock
  local parts, counts, n, total = {}, {}, 0, 0
  local last = nil
  local value = redis.call('GET', KEYS[i])
  if value then
    last = struct.unpack('<d', value)
    if last > now then now = last end
    if last + period - now > 0.001 then
      local base = math.floor(last / width)
      local part = math.floor(now / width)
      local at = 9
      while at <= #value do
        local age, count
        age, count, at = struct.unpack('<BI4', value, at)
        if part - (base - age) <= 60 then
          n = n + 1
          parts[n], counts[n] = base - age, count
          total = total + count
        end
      end
    end
  end
  local part = math.floor(now / width)
  local needed = math.max(1, amount)
  local allowed = max < 0 or total + needed <= max
  local counted = 0
  if allowed then counted = math.min(amount, 4294967295 - total) end
  local sum = total + counted
  if counted > 0 then
    if n > 0 and parts[n] == part then counts[n] = counts[n] + counted
    else
      n = n + 1
      parts[n], counts[n] = part, counted
    end
    last = now
    local packed = { struct.pack('<d', now) }
    for j = 1, n do packed[j + 1] = struct.pack('<BI4', part - parts[j], counts[j]) end
    redis.call('SET', KEYS[i], table.concat(packed), 'PX', math.ceil(period) + 1)
  end
  local wait = period
  if sum > 0 then
    local enough = sum - 1
    if not allowed then enough = max - needed end
    if enough < 0 then enough = 0 end
    local rest = sum
    wait = last + period - now
    for j = 1, n do
      if parts[j] >= part then break end
      rest = rest - counts[j]
      if rest <= enough then
        if rest > 0 then wait = (parts[j] + 61) * width - now end
        break
      end
    end
  end
  if wait > period then wait = period end
  out[i * 3 - 2] = allowed and 1 or 0
  out[i * 3 - 1] = sum
  out[i * 3] = math.max(1, math.ceil(wait - 0.001))
end
return out
`

export const takeScript = { text, sha: createHash("sha1").update(text).digest("hex") }
