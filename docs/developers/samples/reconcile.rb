require "json"
require "net/http"

queries = {
  q0: { query: "Amercan Red Cross", properties: [{ pid: "city", v: "Washington" }] },
  q1: { query: "13-1788491" },
}
url = URI("https://causeway.example/reconcile?apiKey=PUBLIC_KEY")
response = Net::HTTP.post_form(url, queries: JSON.generate(queries))
JSON.parse(response.body).each do |query, found|
  found["result"].each do |candidate|
    puts "#{query} #{candidate["name"]} #{candidate["score"]} #{candidate["match"]}"
  end
end
