import { isDeepStrictEqual } from "node:util"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { firstSeed, scaled } from "../../support/random-run.ts"
import { Chance, type Pair, pairOf, randomExchange } from "./exchanges.ts"

/**
 * Both languages on the same exchanges: a value is the same, and where one has none the other has none, but for what was told.
 * Returns for how many exchanges CEL has a value.
 */
function expectEqual(text: string, pair: Pair, chance: Chance, rounds: number): number {
  let values = 0
  for (let round = 0; round < rounds; round++) {
    const exchange = randomExchange(chance)
    const [csharp, cel] = pair.both(exchange)
    if (cel !== "none") values += 1
    if (pair.told && cel === "none") continue
    const wanted =
      csharp !== "none" && csharp.value === null && pair.nullable ? { value: "", text: "" } : csharp
    // `expect` and its message take longer than both languages.
    if (isDeepStrictEqual(cel, wanted)) continue
    const seen = JSON.stringify({
      headers: exchange.headers.flat,
      query: exchange.query.text,
      parameters: exchange.parameters,
      body: exchange.requestBody.text(),
    })
    expect(cel, `${text} is ${pair.cel} with ${seen}`).toEqual(wanted)
  }
  return values
}

// Both read the clock.
beforeAll(() => vi.useFakeTimers({ now: Date.UTC(2026, 1, 28, 23, 59, 59, 700), toFake: ["Date"] }))
afterAll(() => vi.useRealTimers())

const header = 'context.Request.Headers.GetValueOrDefault("X-A", "")'

const texts = [
  'context.Variables.GetValueOrDefault<string>("e")',
  `Uri.EscapeDataString(${header} + "é/~!'()*&")`,
  `Convert.ToBase64String(Encoding.UTF8.GetBytes(${header}))`,
  `Convert.ToBase64String(Encoding.UTF8.GetBytes(${header} + "/é")).Replace("/", "_").Replace("+", "-").Replace("=", "")`,
  `Regex.Match(${header}, @"b(?<rest>\\w+)").Groups["rest"]?.Value`,
  `Regex.Match(${header} + "age=12, age=7", @"age=(\\d+)").Groups[1].Value`,
  `Regex.Match(${header}, "a+").Value`,
  `Regex.Replace(${header}, "a", "-")`,
  `Regex.Replace(${header} + " x1 x22", @"x(\\d+)", "<$1>")`,
  `Regex.Replace(${header}, "b*", "-")`,
  "DateTimeOffset.UtcNow.ToUnixTimeSeconds().ToString()",
  "new DateTimeOffset(DateTime.UtcNow.AddMinutes(10)).ToUnixTimeSeconds().ToString()",
  'DateTime.UtcNow.AddSeconds(context.Response.StatusCode).ToString("yyyy-MM-ddTHH:mm:ssZ")',
  'DateTime.UtcNow.AddDays(-1).ToString("u")',
  'DateTimeOffset.UtcNow.AddHours(1).ToString("yyyy-MM-dd")',
  "(context.Response.StatusCode / 100).ToString()",
  '$"{context.Response.StatusCode % 7}"',
  "context.Request.Method",
  "context.Request.IpAddress",
  "context.Request.OriginalUrl.Path",
  "context.Request.OriginalUrl.Host",
  "context.Request.OriginalUrl.Scheme",
  'context.Request.MatchedParameters["id"]',
  'context.Request.MatchedParameters.GetValueOrDefault("id", "x")',
  "context.Api.Name",
  "context.Api.Version",
  "context.Operation.Id",
  'context.Request.Headers.GetValueOrDefault("X-A", "")',
  'context.Request.Headers.GetValueOrDefault("x-a", "none")',
  'context.Request.Headers.GetValueOrDefault("X-B")',
  'context.Request.Headers["X-A"][0]',
  'context.Request.Headers["X-A"].First()',
  'context.Request.Headers.GetValueOrDefault("X-A", "").Split(\' \')[1]',
  'context.Request.OriginalUrl.Query.GetValueOrDefault("p", "v")',
  'context.Request.Url.Query.GetValueOrDefault("q")',
  'context.Response.Headers.GetValueOrDefault("X-A", "")',
  "context.Response.StatusReason",
  "context.LastError.Reason",
  "context.LastError.Message",
  '(string)context.Variables["s"]',
  '(string)context.Variables["d"]',
  'context.Variables.GetValueOrDefault<string>("s")',
  'context.Variables.GetValueOrDefault<string>("s", "w")',
  '((IResponse)context.Variables["r"]).StatusReason',
  "context.Request.Method.ToLower()",
  'context.Request.Headers.GetValueOrDefault("X-A", "").Replace("a", "bb")',
  'context.Request.Headers.GetValueOrDefault("X-B") ?? "nothing"',
  "context.Response.StatusCode.ToString()",
  '$"{context.Request.Method} {context.Response.StatusCode} {(bool)context.Variables["b"]}"',
  'String.Concat("Bearer ", (string)context.Variables["s"])',
  'context.Request.Headers.GetValueOrDefault("X-A", "").Trim()',
  'context.Request.Headers.GetValueOrDefault("X-A")?.Trim() ?? "none"',
  'context.Request.Headers["X-A"].Last()',
  'string.Join(";", context.Request.Headers["X-A"])',
  'context.Request.Headers.GetValueOrDefault("X-A", "").Split(\',\').Last()',
  "string.Empty",
  'context.Request.Headers.GetValueOrDefault("X-A") ?? context.Request.Headers.GetValueOrDefault("X-B") ?? "z"',
]

// What has no value here for some exchanges, which is told.
const toldTexts = [
  `Encoding.UTF8.GetString(Convert.FromBase64String(${header}))`,
  `Encoding.UTF8.GetString(Convert.FromBase64String(Convert.ToBase64String(Encoding.UTF8.GetBytes(${header}))))`,
  `Uri.UnescapeDataString(${header})`,
  `Uri.UnescapeDataString(Uri.EscapeDataString(${header}))`,
  "DateTimeOffset.UtcNow.ToUnixTimeMilliseconds().ToString()",
  `DateTimeOffset.FromUnixTimeSeconds(long.Parse(${header})).AddSeconds(5).ToUnixTimeSeconds().ToString()`,
  "(context.Response.StatusCode * 10737418 - 1).ToString()",
  'context.Variables["d"].ToString()',
  `(long.Parse(${header}) + 1).ToString()`,
  '$"{context.Variables["d"]}"',
  '(string)context.Request.Body.As<JObject>()["a"]',
  '(string)context.Request.Body.As<JObject>(preserveContent: true)["a"]["b"]',
  '(string)context.Request.Body.As<JToken>()["a"][0]',
  'context.Request.Body.As<JObject>()["a"].ToString()',
  'context.Request.Body.As<JObject>()["c-d"].ToString()',
  '(string)context.Request.Body.As<JObject>()["c-d"] ?? "none"',
  'context.Request.Body.As<JObject>()?["a"]?.ToString() ?? "none"',
  '(string)context.Response.Body.As<JObject>().SelectToken("a.b")',
  'context.Response.Body.As<JObject>().Value<string>("b")',
  'context.Response.Body.As<JObject>()["b"].Value<string>()',
  '(string)((IResponse)context.Variables["r"]).Body.As<JObject>()["a"]',
  '((IResponse)context.Variables["r"]).Body.As<JObject>()["a"].ToString()',
  '(string)((JObject)context.Variables["o"])["a"]',
  '((Jwt)context.Variables["t"]).Subject',
  '((Jwt)context.Variables["t"])?.Issuer ?? "nobody"',
  '((Jwt)context.Variables["t"]).Claims.GetValueOrDefault("role", "none")',
  '((Jwt)context.Variables["t"]).Claims.GetValueOrDefault("role")',
  '((Jwt)context.Variables["t"]).Claims.GetValueOrDefault("x-y", "")',
  '((Jwt)context.Variables["t"]).Claims["role"][0]',
  '((Jwt)context.Variables["t"]).Claims["role"].FirstOrDefault()',
  '((Jwt)context.Variables["t"]).Claims.GetValueOrDefault("role", context.Request.Method)',
  'context.Request.Headers.GetValueOrDefault("X-A", "").ToLower()',
  'context.Request.Headers.GetValueOrDefault("X-A", "").Substring(1)',
  'context.Request.Headers.GetValueOrDefault("X-A", "").Substring(0, 2)',
  "context.Subscription.Id",
  'context.Subscription?.Name ?? "none"',
  "context.Product.Name",
  'context.Product?.Id ?? "none"',
  'context.Variables.GetValueOrDefault<string>("d", "none")',
  'context.Variables.GetValueOrDefault<string>("d")',
]

const toldTruths = [
  `DateTimeOffset.UtcNow > DateTimeOffset.FromUnixTimeMilliseconds(long.Parse(${header}))`,
  "context.Subscription == null",
  "context.Product != null",
  'context.Request.Headers.GetValueOrDefault("X-A", "").StartsWith("first", StringComparison.OrdinalIgnoreCase)',
  'context.Request.Headers.GetValueOrDefault("X-A", "").ToUpper() == "POST"',
  'context.Request.Headers.GetValueOrDefault("X-A", "").Length < 3',
  'context.Request.Headers.GetValueOrDefault("X-A", "").IndexOf("b") >= 0',
  'context.Variables.GetValueOrDefault<bool>("d")',
  '(int)context.Request.Body.As<JObject>()["a"] > 4',
  '(bool)context.Request.Body.As<JObject>()["a"]',
  'context.Request.Body.As<JObject>()["a"] == null',
  "context.Request.Body.As<JObject>() == null",
  'context.Request.Body.As<JObject>().ContainsKey("c-d")',
  'context.Request.Body.As<JObject>()["c-d"] != null',
  '(string)context.Request.Body.As<JObject>()["a"] == ""',
  '(string)context.Request.Body.As<JObject>()["a"] == null',
  'string.IsNullOrEmpty((string)context.Request.Body.As<JObject>()["a"])',
  '((IResponse)context.Variables["r"]).Body.As<JObject>() == null',
  'int.Parse(context.Request.Headers.GetValueOrDefault("X-A", "")) > 2',
  '((Jwt)context.Variables["t"]).Subject == "ann"',
  '((Jwt)context.Variables["t"]).Claims.ContainsKey("role")',
  '((Jwt)context.Variables["t"]).Claims["role"].Contains("a")',
]

const truths = [
  'context.LastError.Source == "configuration"',
  `Regex.IsMatch(${header}, "^a.*b?$")`,
  "DateTime.UtcNow >= DateTime.UtcNow.AddSeconds(1)",
  'Guid.NewGuid().ToString().Length == 36 && Guid.NewGuid().ToString("N").Length == 32',
  "Guid.NewGuid().ToString() != Guid.NewGuid().ToString()",
  'context.Request.Headers.ContainsKey("X-A")',
  'context.Request.Url.Query.ContainsKey("p")',
  'context.Variables.ContainsKey("s")',
  '(bool)context.Variables["b"]',
  'context.Variables.GetValueOrDefault<bool>("b")',
  'context.Variables.GetValueOrDefault<bool>("b", true)',
  '(int)context.Variables["n"] > 2',
  'context.Variables.GetValueOrDefault<int>("n") <= 3',
  "context.Response.StatusCode >= 404",
  '((IResponse)context.Variables["r"]).StatusCode == 200',
  '(IResponse)context.Variables["r"] == null',
  '(IResponse)context.Variables["r"] != null && ((IResponse)context.Variables["r"]).StatusCode < 500',
  'context.Variables["d"] == null',
  'context.Request.Headers.GetValueOrDefault("X-B") == null',
  'context.Request.Headers.GetValueOrDefault("X-B") != null',
  'context.Request.Headers.GetValueOrDefault("X-B") == "a"',
  'context.Request.Method.Equals("get", StringComparison.OrdinalIgnoreCase)',
  'string.IsNullOrEmpty(context.Request.Headers.GetValueOrDefault("X-A"))',
  'context.Request.Headers.GetValueOrDefault("X-A", "").Equals("a")',
  'context.Request.Headers.GetValueOrDefault("X-A", "").ToLower() == "abc"',
  'context.Request.Headers.GetValueOrDefault("X-A", "").ToUpper() != "A"',
  'context.Request.Headers.GetValueOrDefault("X-A", "").ToLowerInvariant().Contains("bearer")',
  'context.Request.Headers.GetValueOrDefault("X-A", "").StartsWith("BEARER ", StringComparison.OrdinalIgnoreCase)',
  'context.Request.Headers.GetValueOrDefault("X-A", "").Equals("ABC", StringComparison.InvariantCultureIgnoreCase)',
  'string.Equals(context.Request.Headers.GetValueOrDefault("X-B"), "a", StringComparison.Ordinal)',
  'context.Request.Headers.GetValueOrDefault("X-A", "").Length > 0',
  'context.Request.Headers.GetValueOrDefault("X-A", "").Length == 0',
  'string.IsNullOrWhiteSpace(context.Request.Headers.GetValueOrDefault("X-A"))',
  'context.Request.Headers.GetValueOrDefault("X-A")?.Contains("a") == true',
  'context.Request.Headers.GetValueOrDefault("X-A")?.StartsWith("a") ?? true',
  'context.Request.Headers.GetValueOrDefault("X-A") == ""',
  'new[] { "GET", "HEAD" }.Contains(context.Request.Method)',
  'context.Variables["d"] == "a"',
  'context.Deployment.Region.Equals("east us", StringComparison.InvariantCultureIgnoreCase)',
]

// Several statements: they hold what they find, and fail where it is found.
const programs = [
  `var first = ${header}.Split(',')[1]; var second = first + first; return second + context.Request.Method + second;`,
  "var id = Guid.NewGuid().ToString(); return id + id == id + id && id != Guid.NewGuid().ToString();",
  "var t = DateTime.UtcNow; return t.AddDays(1) > t;",
]

const toldPrograms = [
  `var n = int.Parse(${header}); return context.Request.Method == "GET" ? "x" : "y";`,
  `var n = int.Parse(${header}); var s = n.ToString(); if (n > 5) { return s + "+"; } return s + s;`,
  `string host = context.Request.Headers.GetValueOrDefault("X-B", "none"); var port = host == "a" ? 443 : int.Parse(${header}); return $"{host}:{port}";`,
]

// JSON that is put together, as a body.
const json = [
  "return context.Request.Body.As<JObject>().ToString();",
  'return $"{((IResponse)context.Variables["r"]).Body.As<JObject>()}";',
  'var id = Guid.NewGuid().ToString(); var n = context.Request.Headers.GetValueOrDefault("X-B"); return new JObject(new JProperty("a", id.Length), new JProperty("b", n), new JProperty("c", n)).ToString();',
  "return JsonConvert.SerializeObject(new { at = DateTimeOffset.UtcNow.ToUnixTimeSeconds() });",
  'return new JObject(new JProperty("a", context.Request.Method), new JProperty("b", 5), new JProperty("c", new JArray("x", true))).ToString();',
  'var p = new JObject(); p["m"] = context.Request.Headers.GetValueOrDefault("X-A"); p["n"] = (int)context.Variables["n"]; p["m"] = "x"; return p.ToString(Newtonsoft.Json.Formatting.None);',
  'var p = new JObject(); if (context.Request.Method == "GET") { p["s"] = (string)context.Variables["s"]; return p.ToString(); } p["other"] = "o"; return p.ToString();',
  'return JsonConvert.SerializeObject(new { a = context.Request.Headers.GetValueOrDefault("X-A"), b = new { c = 4 } });',
  'return new JObject { { "a", "x" }, { "b", context.Response.StatusCode } }.ToString();',
  'return JObject.FromObject(new { status = (string)context.Variables["d"] }).ToString();',
]

const none = [
  // What fails although nobody reads it, a member that is there already, and what is no JSON of ours.
  'var p = new JObject(); p["s"] = (string)context.Variables["s"]; return "x";',
  'return new JObject(new JProperty("a", 1), new JProperty("a", 2)).ToString();',
  'return new JObject(new JProperty("a", 1.5)).ToString();',
  'return new JObject(new JProperty("a", context.Request.Body.As<JObject>()["a"])).ToString();',
  'return new JObject(new JProperty("a", 1)).ToString() + "x";',
  // One language reads a letter, or nothing, otherwise.
  'context.Request.Headers.GetValueOrDefault("X-A").StartsWith("a")',
  'context.Request.Headers.GetValueOrDefault("X-A")?.Contains("a") == false',
  'context.Request.Headers.GetValueOrDefault("X-A") == context.Request.Headers.GetValueOrDefault("X-B")',
  'context.Request.Headers.GetValueOrDefault("Host", "")',
  "context.RequestId",
  "context.LastError.Source",
  '(string)context.Variables["n"]',
  '(int)context.Variables["d"]',
  'context.Variables["unknown"]',
  // Numbers JSON may not have as they are; formats and groups of their own; what is kept where it is made but not where it is read.
  'var id = Guid.NewGuid(); return new JObject(new JProperty("a", id.ToString()), new JProperty("b", id.ToString())).ToString() + "x";',
  `return JsonConvert.SerializeObject(new { n = long.Parse(${header}) });`,
  'DateTime.UtcNow.ToString("R")',
  `Convert.ToBase64String(Encoding.Unicode.GetBytes(${header}))`,
  `Regex.Match(${header}, "(a)|b").Groups[1].Value`,
  `Regex.Match(${header}, "(a)?b").Groups[1].Value`,
  `Regex.Match(${header}, "(a)(b)").Groups[1].Value`,
  `Regex.Replace(${header}, "a", "$&")`,
  "DateTime.UtcNow.AddMinutes(context.Response.StatusCode) > DateTime.UtcNow",
  // JSON that is written again, tokens nobody checked, and what stands for several things.
  'context.Request.Body.As<JObject>().ToString() + "x"',
  "context.Request.Body.As<XElement>()",
  'context.Request.Headers.GetValueOrDefault("Authorization", "").AsJwt()?.Subject',
  'context.Request.Headers.GetValueOrDefault("Authorization", "").AsJwt()?.Claims.GetValueOrDefault("x", "")',
  '((Jwt)context.Variables["s"]).Subject',
  '((JObject)context.Variables["d"])["a"].ToString()',
  'context.Variables.GetValueOrDefault<int>("d")',
  "context.Subscription.Key",
  "context.Product.State.ToString()",
  "context.User.Id",
  "DateTime.UtcNow.ToString()",
  "1.5",
]

describe("policy expressions as CEL", () => {
  test.each([...texts, ...truths, ...programs])("%s", (text) => {
    const pair = pairOf(text, /LastError/.test(text) ? "on-error" : "outbound")
    if (pair === undefined) throw new Error("it has a counterpart")
    expectEqual(text, pair, new Chance(1), scaled(60, 0.4))
  })

  test.each([...toldTexts, ...toldTruths, ...toldPrograms])("%s, where it has a value", (text) => {
    const pair = pairOf(text, "outbound")
    if (pair === undefined) throw new Error("it has a counterpart")
    expect(pair.told).toBe(true)
    expect(expectEqual(text, pair, new Chance(1), scaled(300))).toBeGreaterThan(3)
  })

  test.each(json)("%s", (text) => {
    const pair = pairOf(text, "outbound")
    if (pair === undefined) throw new Error("it has a counterpart")
    expectEqual(text, pair, new Chance(1), scaled(90, 0.4))
  })

  test.each(none)("%s has no counterpart", (text) => {
    expect(pairOf(text, /LastError/.test(text) ? "on-error" : "outbound")).toBeUndefined()
  })

  test("an expression that would be written out too often has no counterpart", () => {
    const ways = Array.from(
      { length: 24 },
      (_, at) => `if (context.Request.Method == "M${at}") { p["a${at}"] = 1; }`,
    )
    expect(
      pairOf(`var p = new JObject(); ${ways.slice(0, 2).join(" ")} return p.ToString();`, "outbound"),
    ).toBeDefined()
    expect(
      pairOf(`var p = new JObject(); ${ways.join(" ")} return p.ToString();`, "outbound"),
    ).toBeUndefined()
    const first = `context.Request.Headers.GetValueOrDefault("X-A", "")${".Split(',').Last()".repeat(20)}`
    expect(pairOf(first, "outbound")).toBeUndefined()
  })

  test("what is only there behind the backend has none in front of it", () => {
    expect(pairOf("context.Response.StatusCode", "inbound")).toBeUndefined()
    expect(pairOf("context.LastError.Reason", "outbound")).toBeUndefined()
  })

  test("random ones", () => {
    const chance = new Chance(firstSeed)
    const known = new Set<string>()
    const count = scaled(250, 0.4)
    for (let made = 0; made < count; made++) {
      const text = truth(chance, 3)
      const pair = pairOf(text, "outbound")
      if (pair === undefined) continue
      known.add(text)
      expectEqual(text, pair, chance, 12)
    }
    expect(known.size).toBeGreaterThan(count / 4)
  })
})

const plain = [...texts, ...toldTexts].filter((text) => !/LastError/.test(text))

function text(chance: Chance, depth: number): string {
  if (depth === 0) return chance.number(3) === 0 ? '"a"' : `(${chance.of(plain)})`
  const [left, right] = [text(chance, depth - 1), text(chance, depth - 1)]
  return chance.of([
    left,
    `(${left} + ${right})`,
    `(${truth(chance, depth - 1)} ? ${left} : ${right})`,
    `$"{${chance.of(plain.filter((each) => !/[$:?]/.test(each)))}}-"`,
    `(${left}).Replace("b", "c")`,
  ])
}

function truth(chance: Chance, depth: number): string {
  if (depth === 0) return `(${chance.of([...truths, ...toldTruths])})`
  const [left, right] = [truth(chance, depth - 1), truth(chance, depth - 1)]
  const [one, other] = [text(chance, depth - 1), text(chance, depth - 1)]
  return chance.of([
    `(${left} && ${right})`,
    `(${left} || ${right})`,
    `!(${left})`,
    `(${left} ? ${right} : ${truth(chance, depth - 1)})`,
    `(${one} == ${other})`,
    `(${one} != "abc")`,
    `(${one}).Contains("a")`,
    `(${one}).StartsWith(${chance.of(['"a"', '""', '"Bearer "'])})`,
    `(${one}).EndsWith("b")`,
    left,
  ])
}
