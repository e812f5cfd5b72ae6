import type { PlanBody } from "../../../runtime/plan/plan.ts"
import { table } from "./table.ts"

/** The URLs of the parts of `sallyport dev`. */
export interface DevAddresses {
  readonly gateway: readonly string[]
  readonly authz: readonly string[]
  /** Empty: the plan has no developer portal. */
  readonly portal: readonly string[]
  readonly control: string
  /** An address that signs a browser in once; undefined: the plan turns the token of `dev` off. */
  readonly console?: string | undefined
  readonly identity: string
  readonly backends: readonly [string, string]
  readonly database: string
}

/** The list of running parts. `seconds` is the duration of the start. */
export function runningText(places: DevAddresses, serial: number | null, seconds: number): string {
  const none = "not served yet"
  // Without a valid plan there are no addresses yet; `dev` serves them as soon as the text compiles.
  const urls = (each: readonly string[]) => each.join(", ") || none
  const served = serial === null ? "no plan yet" : `serial ${serial}`
  return `\nSallyport runs (${served}, ready in ${seconds.toFixed(1)} s). Ctrl-C ends it.\n\n${table(
    ["  WHAT", "WHERE", ""],
    [
      ["  gateway, the first door", urls(places.gateway), "for clients"],
      ["  engine, the second door", urls(places.authz), "for services: OpenFGA's API"],
      ["  control", places.control, "for operators and CI, token in .sallyport/control.token"],
      ...(places.portal.length === 0
        ? []
        : [["  developer portal", urls(places.portal), "for the people who call the APIs"]]),
      ["  identity provider", places.identity, "realm acme; ann, bob, carol, passwords are their names"],
      ["  sample backends", places.backends.join(", "), "orders; orders v2 and catalog"],
      ["  database", places.database, ""],
    ],
  )}${consoleText(places.console)}`
}

/** The link is longer than the table may be wide. */
function consoleText(url: string | undefined): string {
  if (url === undefined) return ""
  return `\nConsole, for your browser (the link signs in once; \`npx sallyport console\` prints another):\n  ${url}\n`
}

/** A line to try: a comment with the expected result, and a line of bash. */
export interface Trial {
  readonly text: string
  readonly line: string
}

/** The lines to try in another terminal. Shows only lines whose routes and stores are in the plan. */
export function tryText(
  plan: PlanBody,
  places: DevAddresses,
  env: Readonly<Record<string, string | undefined>>,
  entry: string,
): string {
  const trials = trialsOf(plan, places, env, entry)
  const lines = trials.map(({ text, line }) => `\n  # ${text}\n  ${line}\n`)
  const toTry = lines.length === 0 ? "" : `\nTry, in another terminal in this folder:\n${lines.join("")}`
  return `${toTry}\nChanges saved in ${entry} and models/ are applied at once. Errors are shown here, and the previous plan stays in use.
Requests that are refused or fail are shown here too; \`npx sallyport explain request --id REQUEST_ID\` says why.\n`
}

/** The lines to try as data. */
export function trialsOf(
  plan: PlanBody,
  places: DevAddresses,
  env: Readonly<Record<string, string | undefined>>,
  entry: string,
): Trial[] {
  const gateway = places.gateway[0]
  const engine = places.authz[0]
  return [
    ...(usesIdentity(plan, places.identity) ? [tokenTrial(places.identity)] : []),
    ...(gateway === undefined
      ? []
      : [...orderTrials(plan, gateway), ...catalogTrials(plan, gateway, env), ...keyTrials(plan)]),
    ...(engine === undefined ? [] : engineTrials(plan, engine)),
    ...(plan.routes["GET /v1/orders/{id}"] === undefined ? [] : [planTrial(entry)]),
  ]
}

/** Only for the example of this repository, which has the limit that this line edits. */
function planTrial(entry: string): Trial {
  return {
    text: "what would a changed file do? (exit code 2: there are changes) Nothing is applied",
    line: `sed 's/ per 1m by/ per 2m by/' ${entry} > next.conf; npx sallyport plan --config next.conf; rm next.conf`,
  }
}

/** Whether tokens of the provider of `dev` may be accepted: an issuer names it, or names a URL that only the environment gives. */
function usesIdentity({ issuers }: PlanBody, identity: string): boolean {
  return Object.values(issuers).some(
    ({ source }) =>
      "discovery" in source &&
      (typeof source.discovery !== "string" || source.discovery.startsWith(identity)),
  )
}

function tokenTrial(identity: string): Trial {
  return {
    text: "request a token, as from Keycloak",
    line: `curl -s -d grant_type=password -d client_id=mobile -d client_secret=mobile-secret -d username=ann -d password=ann ${identity}/realms/acme/protocol/openid-connect/token`,
  }
}

/** The token is requested when the line runs: a printed one would expire while the user reads. */
const bearer = (name: string) => `-H "Authorization: Bearer $(npx sallyport token --sub ${name})"`

/** Requests for the first example. They are printed only if the plan has the routes that they call. */
function orderTrials({ routes, authz }: PlanBody, gateway: string): Trial[] {
  const trials: Trial[] = []
  if (routes["GET /v1/orders/{id}"] !== undefined) {
    const order = `${gateway}/v1/orders/1`
    trials.push(
      { text: "the first door, without a token: 401", line: `curl -i ${order}` },
      { text: "as ann, who owns the order: 200", line: `curl -i ${bearer("ann")} ${order}` },
      {
        text: "as bob, who has no relation to the order: 403 from the second door",
        line: `curl -i ${bearer("bob")} ${order}`,
      },
    )
    if (authz?.stores["acme"] !== undefined)
      trials.push({
        text: "why? ask the engine",
        line: "npx sallyport check user:bob viewer order:1 --explain",
      })
    trials.push({
      text: "what happens to his request, step by step",
      line: "npx sallyport explain request GET /v1/orders/1 --as bob --claim scope=orders.read",
    })
    trials.push({
      text: "as carol, who sees it through a team of a team: 200",
      line: `curl -i ${bearer("carol")} ${order}`,
    })
  }
  if (routes["GET /v2/orders"] !== undefined)
    trials.push({
      text: "the second version, another backend: 200",
      line: `curl -i ${bearer("ann")} ${gateway}/v2/orders`,
    })
  return trials
}

/** Requests with a subscription key. */
function catalogTrials(
  { routes, subscriptions, secrets, steps }: PlanBody,
  gateway: string,
  env: Readonly<Record<string, string | undefined>>,
): Trial[] {
  if (routes["GET /catalog/items"] === undefined) return []
  const reference = secrets[subscriptions["acme_ci"]?.key ?? ""]
  if (reference === undefined || !("env" in reference)) return []
  // Do not print a key that the user has set. The line works in a shell that has the variable.
  const value = env[reference.env]
  const key = value?.startsWith("dev-") ? value : `$${reference.env}`
  // The plan has header names in lower case. The default is that of `auth subscription`.
  const name = Object.values(steps).find((step) => step.kind === "validate-key")?.header ?? "x-api-key"
  const header = `-H "${name}: ${key}"`
  const call = `${header} ${gateway}/catalog/items`
  return [
    { text: "with a subscription key: 200", line: `curl -i ${call}` },
    ...describedTrials(routes, gateway, header),
    {
      text: "too often: 429 from the 20th call in a minute on",
      // The limit of the example is 20 in a minute; 25 calls show where it begins.
      line: `for i in $(seq 25); do curl -s -o /dev/null -w '%{http_code} ' ${call}; done; echo`,
    },
  ]
}

/** Lines for routes with an OpenAPI document or an XML policy document. */
function describedTrials(routes: PlanBody["routes"], gateway: string, header: string): Trial[] {
  const trials: Trial[] = []
  if (routes["POST /catalog/items"] !== undefined)
    trials.push({
      text: "a body that does not match the OpenAPI document: 400 with every error",
      line: `curl -i -H 'Content-Type: application/json' -d '{"sku": "lamp"}' ${header} ${gateway}/catalog/items`,
    })
  if (routes["* /stock/items/{id}"] !== undefined)
    trials.push({
      text: "policies of an XML document, with C#: 400 without a reason",
      line: `curl -i -X DELETE ${bearer("ann")} ${gateway}/stock/items/1`,
    })
  return trials
}

/** How to create a subscription. */
function keyTrials({ products, routes }: PlanBody): Trial[] {
  const { apis = [] } = products["partner"] ?? {}
  if (!Object.values(routes).some(({ api }) => apis.includes(api))) return []
  return [
    // Shown only where the product `partner` opens an API that has routes.
    {
      text: "create a subscription: its two keys are shown once",
      line: "npx sallyport subscription create lena --product partner",
    },
    { text: "calls and prices by caller", line: "npx sallyport usage" },
  ]
}

/** Requests to the engine. */
function engineTrials({ authz }: PlanBody, engine: string): Trial[] {
  if (authz?.stores["acme"] === undefined) return []
  const question = '{"tuple_key": {"user": "user:ann", "relation": "viewer", "object": "order:1"}}'
  return [
    {
      text: "what services ask through OpenFGA's API",
      line: `curl -s -H 'Content-Type: application/json' -d '${question}' ${engine}/stores/acme/check`,
    },
    { text: "is the engine healthy?", line: `curl -s ${engine}/healthz` },
  ]
}
