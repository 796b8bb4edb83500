require 'json'
require 'openssl'
require 'socket'

# Whether the server signed this body within the last five minutes.
def signed?(headers, body)
  timestamp = headers['webhook-timestamp'].to_s
  return false if (Time.now.to_i - timestamp.to_i).abs > 300

  key = ENV.fetch('WEBHOOK_SECRET').delete_prefix('whsec_').unpack1('m')
  content = "#{headers['webhook-id']}.#{timestamp}.#{body}"
  expected = "v1,#{[OpenSSL::HMAC.digest('SHA256', key, content)].pack('m0')}"
  headers['webhook-signature'].to_s.split.any? { |one| OpenSSL.secure_compare(expected, one) }
end

server = TCPServer.new(Integer(ENV.fetch('PORT', '8000')))
loop do
  client = server.accept
  client.gets
  headers = {}
  while (line = client.gets.to_s.chomp) != ''
    name, value = line.split(': ', 2)
    headers[name.downcase] = value
  end
  body = client.read(headers['content-length'].to_i)
  if signed?(headers, body)
    puts "#{JSON.parse(body)['type']} #{headers['webhook-id']}"
    $stdout.flush
    client.print "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
  else
    client.print "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
  end
  client.close
end
