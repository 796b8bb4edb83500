require "json"
require "net/http"

url = URI("https://causeway.example/v0.2/nonprofit/no-such-nonprofit?apiKey=PUBLIC_KEY")
response = Net::HTTP.get_response(url)
body = JSON.parse(response.body)
if response.is_a?(Net::HTTPSuccess)
  puts body["data"]["nonprofit"]["name"]
elsif body["code"] == "nonprofit_not_found"
  puts "Not in the directory: #{body["detail"]}"
else
  raise "#{body["code"]}: #{body["detail"]} (request #{body["requestId"]})"
end
