require "net/http"

response = Net::HTTP.get_response(URI("https://causeway.example/v0.2/search/museum?apiKey=PUBLIC_KEY"))
left, seconds = response["RateLimit"].match(/r=(\d+);t=(\d+)/).captures
puts "#{left} requests left; the oldest one stops counting in #{seconds} seconds"
