require "json"
require "net/http"

url = URI("https://causeway.example/v0.2/match")
request = Net::HTTP::Post.new(url, "Content-Type" => "application/json")
request.basic_auth("PUBLIC_KEY", "PRIVATE_KEY")
request.body = JSON.generate(rows: [
  { id: "1", name: "Amercan Red Cross", city: "Washington", state: "DC" },
  { id: "2", ein: "13-1788491" },
])
response = Net::HTTP.start(url.host, url.port, use_ssl: url.scheme == "https") { |http| http.request(request) }
JSON.parse(response.body).fetch("rows").each do |row|
  best = row["candidates"].first&.fetch("name") || "nothing similar"
  puts "row #{row["id"]}: #{best}#{" (please check)" unless row["match"]}"
end
