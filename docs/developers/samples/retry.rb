require "json"
require "net/http"

# Tries a request up to five times and waits as long as the server asks.
def get(url)
  1.upto(5) do |attempt|
    response = Net::HTTP.get_response(URI(url))
    return response if !%w[429 503].include?(response.code) || attempt == 5
    sleep((response["Retry-After"] || 1).to_i)
  end
end

response = get("https://causeway.example/v0.2/causes?apiKey=PUBLIC_KEY")
puts "#{JSON.parse(response.body)["causes"].length} causes"
