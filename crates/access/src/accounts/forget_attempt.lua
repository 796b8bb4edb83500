-- Reverts the count of an attempt to sign in whose password was right, and trusts the network.
--
-- KEYS  the attempts at the account from the network, the key that says that the network is trusted, and the lists from
--       which the last attempt is removed.
-- ARGV  how long the network is trusted, in milliseconds.

redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], '1', 'PX', ARGV[1])
for index = 3, #KEYS do
    redis.call('RPOP', KEYS[index])
end
return 0
