import type {
  PolicyBody,
  PolicyContext,
  PolicyLists,
  PolicyResponse,
  PolicyTexts,
  PolicyUrl,
} from "../../../runtime/azure/csharp/ports.ts"

/** 2024-05-06T07:08:09.123Z, the time all cases see. */
export const nowMs = Date.UTC(2024, 4, 6, 7, 8, 9, 123)

function lists(values: Readonly<Record<string, readonly string[]>>): PolicyLists {
  const entries = Object.entries(values)
  const get = (name: string) => entries.find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1]
  return { get, joined: (name) => get(name)?.join(","), entries: () => entries }
}

export function body(text: string | undefined): PolicyBody {
  return { present: text !== undefined, content: () => Buffer.from(text ?? "") }
}

const matchedParameters: PolicyTexts = {
  get: (name) => (name.toLowerCase() === "id" ? "17" : undefined),
  entries: () => [["id", "17"]],
}

const url: PolicyUrl = {
  scheme: "https",
  host: "api.example.org",
  port: 443,
  path: "/orders/17",
  queryString: "?tag=a&tag=b&q=x%20y",
  query: lists({ tag: ["a", "b"], q: ["x y"] }),
}

export function response(status: number, text: string): PolicyResponse {
  return {
    status,
    reason: "OK",
    headers: lists({ "Content-Type": ["application/json"] }),
    body: body(text),
  }
}

const nothingStored = {
  storedResponse: () => undefined,
  storedToken: () => undefined,
  storedAccessToken: () => undefined,
  storedViolations: () => undefined,
}

/** A request with a JSON body, and what a test changes of it. Chance counts upwards from zero. */
export function fakeContext(changed: Partial<PolicyContext> = {}): PolicyContext {
  let chance = 0
  return {
    requestId: "0f8fad5b-d9cb-469f-a165-70867728950e",
    api: {
      id: "orders",
      name: "Orders",
      path: "orders",
      protocols: ["https"],
      serviceUrl: undefined,
      keyHeader: "Ocp-Apim-Subscription-Key",
      keyQuery: "subscription-key",
      revision: "1",
      version: "",
    },
    operation: { id: "get-order", name: "Get order", method: "GET", urlTemplate: "/orders/{id}" },
    product: undefined,
    subscription: undefined,
    user: undefined,
    deployment: {
      region: "West Europe",
      serviceId: "s",
      serviceName: "acme",
      gatewayId: "g",
      instanceId: "host-1",
      certificates: new Map(),
    },
    request: {
      method: "GET",
      url,
      originalUrl: url,
      headers: lists({
        Authorization: ["Basic YW5uOnNlY3JldA=="],
        "X-Many": ["one", "two"],
        "X-Number": ["42"],
      }),
      ipAddress: "10.1.2.3",
      matchedParameters,
      body: body(
        '{"name":"ann","roles":["a","b"],"age":41,"ratio":1.0,"big":9007199254740993,"when":"2024-01-02T03:04:05Z","none":null}',
      ),
      certificate: undefined,
    },
    response: response(200, '{"ok":true}'),
    error: undefined,
    tracing: false,
    startedMs: nowMs - 1500,
    variables: new Map<string, unknown>([
      ["text", "hello"],
      ["count", 7],
      ["list", [1, 2, 3]],
    ]),
    nowMs: () => nowMs,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => chance++ % 256),
    trace: () => undefined,
    namedValue: (kind, name) => `${kind} ${name}`,
    ...nothingStored,
    ...changed,
  }
}
