-- Exact sliding windows: counts a call in all of the given windows, or in none if one of them is full.
--
-- KEYS  one list per window: the times of its calls in microseconds, oldest first. All keys have the same hash tag.
-- ARGV  for each window: the limit, its length in microseconds, the number of recent calls that the asking server has
--       counted in it, the number of ages that follow, and the ages of these calls in microseconds, oldest first.
--
-- Returns for each window: 1 if it has room and 0 if not, the number of calls in it, the microseconds until the oldest
-- one leaves it, and the microseconds until it admits a call. Returns only -1 and counts nothing if a window has
-- fewer calls than the asking server alone has counted: calls were lost, and the server asks again with their ages.

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local function text(number)
    return string.format('%.0f', number)
end

local function call_at(key, index)
    return tonumber(redis.call('LINDEX', key, index))
end

local function push(key, times)
    for first = 1, #times, 1000 do
        redis.call('RPUSH', key, unpack(times, first, math.min(first + 999, #times)))
    end
end

-- If the clock was set back, later times count as now, so that a caller waits no longer than the window.
local function clamp(key)
    local later = {}
    local last = call_at(key, -1)
    while last and last > now do
        redis.call('RPOP', key)
        later[#later + 1] = text(now)
        last = call_at(key, -1)
    end
    push(key, later)
end

-- Drops the calls that have left the window. Finds the first one that has not with a few probes, since thousands may
-- leave at once.
local function drop_old(key, length)
    local function has_left(index)
        local call = call_at(key, index)
        return call and call + length <= now
    end
    if not has_left(0) then
        return
    end
    local left, kept = 0, 1
    while has_left(kept) do
        left, kept = kept, kept * 2
    end
    while kept - left > 1 do
        local middle = math.floor((left + kept) / 2)
        if has_left(middle) then
            left = middle
        else
            kept = middle
        end
    end
    redis.call('LTRIM', key, kept, -1)
end

-- Adds the newest of the calls that the asking server has counted, until the window has as many as that server.
local function restore(key, missing, last_argument)
    local calls = redis.call('LRANGE', key, 0, -1)
    for index = 1, #calls do
        calls[index] = tonumber(calls[index])
    end
    for argument = last_argument - missing + 1, last_argument do
        calls[#calls + 1] = now - tonumber(ARGV[argument])
    end
    table.sort(calls)
    for index = 1, #calls do
        calls[index] = text(calls[index])
    end
    redis.call('DEL', key)
    push(key, calls)
end

local windows, is_admitted = {}, true
local argument = 1
for index, key in ipairs(KEYS) do
    local window = { limit = tonumber(ARGV[argument]), length = tonumber(ARGV[argument + 1]) }
    local own, ages = tonumber(ARGV[argument + 2]), tonumber(ARGV[argument + 3])
    argument = argument + 4 + ages
    clamp(key)
    drop_old(key, window.length)
    window.counted = redis.call('LLEN', key)
    if window.counted < own then
        if ages == 0 then
            return { -1 }
        end
        restore(key, math.min(own - window.counted, ages), argument - 1)
        window.counted = redis.call('LLEN', key)
        redis.call('PEXPIRE', key, math.ceil(window.length / 1000) + 1)
    end
    window.has_room = window.counted < window.limit
    is_admitted = is_admitted and window.has_room
    windows[index] = window
end

local result = {}
for index, key in ipairs(KEYS) do
    local window = windows[index]
    if is_admitted then
        redis.call('RPUSH', key, text(now))
        redis.call('PEXPIRE', key, math.ceil(window.length / 1000) + 1)
        window.counted = window.counted + 1
    end
    local function time_until_gone(position)
        local call = call_at(key, position)
        return call and call + window.length - now or window.length
    end
    result[#result + 1] = window.has_room and 1 or 0
    result[#result + 1] = window.counted
    result[#result + 1] = time_until_gone(0)
    if window.has_room then
        result[#result + 1] = 0
    elseif window.limit == 0 then
        result[#result + 1] = window.length
    else
        result[#result + 1] = time_until_gone(window.counted - window.limit)
    end
end
return result
