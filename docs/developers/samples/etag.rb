require "net/http"

url = URI("https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY")
first = Net::HTTP.get_response(url)
second = Net::HTTP.get_response(url, { "If-None-Match" => first["ETag"] })
puts first.code, second.code # 200, 304
