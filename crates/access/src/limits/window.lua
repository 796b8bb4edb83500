-- Exact sliding windows: counts a call in all of the given windows, or in none if one of them is full.
--
-- Every call in a window has the number of the server that counted it. If Redis loses calls, each server sends its own
-- again, and the window has the sum of what the servers counted.
--
-- KEYS  two for each window, all with the same hash tag: a list of its calls, oldest first, each with its time in
--       microseconds and, after a dot, the number of its server; and a hash with the last record of each server.
-- ARGV  for each window: the limit; its length in microseconds; the number of the asking server, or 0 if it sends nothing
--       again; its last record, which grows with each call that it counts; how many of its calls are younger than an age;
--       this age in microseconds; the number of ages that follow; and the ages of these calls, oldest first.
--
-- Returns for each window: 1 if it has room and 0 if not, the number of calls in it, the microseconds until the oldest
-- one leaves it, the microseconds until it admits a call, and the record of the asking server. Returns only -1 and counts
-- nothing if calls of the asking server were lost: the server asks again with their ages.

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local function text(number)
    return string.format('%.0f', number)
end

local function time_of(call)
    return tonumber(string.match(call, '^%d+'))
end

local function server_of(call)
    return tonumber(string.match(call, '%.(%d+)$')) or 0
end

local function with_server(moment, server)
    return server == 0 and text(moment) or text(moment) .. '.' .. text(server)
end

local function time_at(key, index)
    local call = redis.call('LINDEX', key, index)
    return call and time_of(call)
end

local function push(key, calls)
    for first = 1, #calls, 1000 do
        redis.call('RPUSH', key, unpack(calls, first, math.min(first + 999, #calls)))
    end
end

-- If the clock was set back, later times count as now, so that a caller waits no longer than the window.
local function clamp(key)
    local later = {}
    local last = redis.call('LINDEX', key, -1)
    while last and time_of(last) > now do
        redis.call('RPOP', key)
        later[#later + 1] = with_server(now, server_of(last))
        last = redis.call('LINDEX', key, -1)
    end
    push(key, later)
end

-- Drops the calls that have left the window. Finds the first one that has not with a few probes, since thousands may
-- leave at once.
local function drop_old(key, length)
    local function has_left(index)
        local call = time_at(key, index)
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

-- Replaces the calls of the asking server that are younger than an age by those that it has counted.
local function restore(window, first_age, last_age)
    local calls = {}
    for _, call in ipairs(redis.call('LRANGE', window.key, 0, -1)) do
        if server_of(call) ~= window.server or time_of(call) <= now - window.age then
            calls[#calls + 1] = call
        end
    end
    for argument = first_age, last_age do
        calls[#calls + 1] = with_server(now - tonumber(ARGV[argument]), window.server)
    end
    table.sort(calls, function(one, other) return time_of(one) < time_of(other) end)
    redis.call('DEL', window.key)
    push(window.key, calls)
    redis.call('HSET', window.records, text(window.server), text(window.record))
end

local function expire(window)
    local millis = math.ceil(window.length / 1000) + 1
    redis.call('PEXPIRE', window.key, millis)
    redis.call('PEXPIRE', window.records, millis)
end

local windows, is_admitted = {}, true
local argument = 1
for index = 1, #KEYS / 2 do
    local function value(offset)
        return tonumber(ARGV[argument + offset])
    end
    local window = {
        key = KEYS[2 * index - 1], records = KEYS[2 * index],
        limit = value(0), length = value(1), server = value(2), record = value(3), age = value(5),
    }
    local own, ages = value(4), value(6)
    local first_age = argument + 7
    argument = first_age + ages
    clamp(window.key)
    drop_old(window.key, window.length)
    window.counted = redis.call('LLEN', window.key)
    if window.server > 0 then
        local known = tonumber(redis.call('HGET', window.records, text(window.server)) or 0)
        if own > 0 and (known < window.record or window.counted < own) then
            if ages == 0 then
                return { -1 }
            end
            restore(window, first_age, argument - 1)
            expire(window)
            window.counted = redis.call('LLEN', window.key)
        end
        window.record = math.max(known, window.record)
    end
    window.has_room = window.counted < window.limit
    is_admitted = is_admitted and window.has_room
    windows[index] = window
end

local result = {}
for _, window in ipairs(windows) do
    if is_admitted then
        redis.call('RPUSH', window.key, with_server(now, window.server))
        if window.server > 0 then
            -- Servers that were started again have other numbers. Without these, each server sends its calls once.
            if redis.call('HLEN', window.records) >= 64 then
                redis.call('DEL', window.records)
            end
            window.record = window.record + 1
            redis.call('HSET', window.records, text(window.server), text(window.record))
        end
        expire(window)
        window.counted = window.counted + 1
    end
    local function time_until_gone(position)
        local call = time_at(window.key, position)
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
    result[#result + 1] = window.record
end
return result
