import { toHex, utf8Bytes } from "#platform"
import { Anonymous, CsDictionary, CsList, KeyValuePair } from "../collections.ts"
import { contextObject, type OutPlace } from "../context-object.ts"
import { DateTime } from "../date-time.ts"
import { JToken } from "../json-tree.ts"
import { convertNumber, isNumberType } from "../numbers.ts"
import type {
  PolicyApi,
  PolicyDeployment,
  PolicyError,
  PolicyOperation,
  PolicyProduct,
  PolicySubscription,
  PolicyUser,
  PolicyViolation,
} from "../ports.ts"
import { charge, currentHost } from "../run.ts"
import { declareType, typeInfo } from "../table.ts"
import { TimeSpan } from "../time-span.ts"
import type { CsType } from "../type.ts"
import { cast, defaultOf, isInstance, unbox } from "../type-test.ts"
import { Boxed, toText } from "../values.ts"
import { Part, Request, Response, Url } from "./context-objects.ts"
import { Certificate } from "./crypto.ts"
import { Guid } from "./guid.ts"
import { tokenAs } from "./json-convert.ts"
import { Authorization, Jwt } from "./jwt.ts"
import { parseNumber } from "./number.ts"
import { parseBool } from "./object.ts"

type Row = (...values: never[]) => unknown
type Self = typeof contextObject

/** The variables of the request, read without copying. */
const variablesObject = new Part("IReadOnlyDictionary<string, object>", null)

/**
 * A variable as an object of the library. Responses, tokens and violations are stored in the form of the host, because steps without C#
 * read them too.
 */
function variable(name: string): { readonly value: unknown } | undefined {
  charge(1)
  const host = currentHost()
  if (!host.variables.has(name)) return undefined
  const value = host.variables.get(name) ?? null
  const response = host.storedResponse(value)
  if (response !== undefined) return { value: new Response(response) }
  const token = host.storedToken(value)
  if (token !== undefined) return { value: new Jwt(token.text, token.header, token.claims) }
  const accessToken = host.storedAccessToken(value)
  if (accessToken !== undefined) return { value: new Authorization(accessToken) }
  const violations = host.storedViolations(value)
  return { value: violations === undefined ? value : new CsList(violations.map(violationObject)) }
}

function violationObject({ name, type, rule, details, action }: PolicyViolation): Anonymous {
  const fields = { Name: name, Type: type, ValidationRule: rule, Details: details, Action: action }
  return new Anonymous(new Map(Object.entries(fields)))
}

const part = <T>(typeName: string, source: T | undefined): Part<T> | null =>
  source === undefined ? null : new Part(typeName, source)

/** `context`. Parts are made when they are read: most expressions need one of them. */
function declareContextItself(): void {
  declareType(
    "IProxyContext",
    { holds: (value) => value === contextObject },
    {
      "Api: IApi": () => part("IApi", currentHost().api),
      "Deployment: IDeployment": () => part("IDeployment", currentHost().deployment),
      "Elapsed: TimeSpan": () => TimeSpan.of(currentHost().nowMs() - currentHost().startedMs, 10_000n),
      "LastError: ILastError": () => part("ILastError", currentHost().error),
      "Operation: IOperation": () => part("IOperation", currentHost().operation),
      "Product: IProduct": () => part("IProduct", currentHost().product),
      "Request: IRequest": () => new Request(currentHost().request),
      "RequestId: Guid": () => requestId(),
      "Response: IResponse": () => {
        const { response } = currentHost()
        return response === undefined ? null : new Response(response)
      },
      "Subscription: ISubscription": () => part("ISubscription", currentHost().subscription),
      "Timestamp: DateTime": () => DateTime.fromMs(currentHost().startedMs, "utc"),
      "Tracing: bool": () => currentHost().tracing,
      "User: IUser": () => part("IUser", currentHost().user),
      "Variables: IVariables": () => variablesObject,
      "Trace(string message): void": (_self: Self, message: string) =>
        currentHost().trace("expression", message ?? ""),
      "Trace(string source, string message): void": (_self: Self, source: string, message: string) =>
        currentHost().trace(source, message),
      "Trace(string source, object data): void": (_self: Self, source: string, data: unknown) =>
        currentHost().trace(source, toText(data)),
    },
  )
}

const guidShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The request id is a Guid if the gateway created it. An id from a proxy can be any text, and is then converted to a Guid. */
function requestId(): unknown {
  const { requestId: id } = currentHost()
  if (guidShape.test(id)) return Guid.parse(id)
  const hex = toHex(utf8Bytes(id)).padEnd(32, "0").slice(0, 32)
  return Guid.parse(hex)
}

/** A variable for `GetValueOrDefault<T>`: a value of that type or the fallback; numbers and texts are converted to each other. */
function typedVariable(types: readonly CsType[], name: string, fallback: unknown): unknown {
  const found = variable(name)
  const [written] = types as readonly [CsType]
  const type = written.name === "?" ? (written.args[0] as CsType) : written
  if (found === undefined || found.value === null) return fallback
  const { value } = found
  if (isInstance(value, type)) return isValue(type) ? unbox(value, type) : value
  if (value instanceof JToken) return tokenAs(value, type)
  if (typeof value === "string" && type.name === "bool") return parseBool(value) ?? cast(value, type)
  if (typeof value === "string" && isNumberType(type.name)) return parseNumber(value, type.name)
  if (typeof value === "string" && isValue(type)) return parseValue(value, type)
  if (type.name === "string" && isPlain(value)) return toText(value)
  if (isNumberType(type.name) && (typeof value === "number" || typeof value === "bigint"))
    return convertNumber(
      value,
      typeof value === "bigint" ? "long" : Number.isInteger(value) ? "int" : "double",
      type.name,
      true,
    )
  return isValue(type) ? unbox(value, type) : cast(value, type)
}

/** Parses a text as a value type: `Guid`, `DateTime`, `TimeSpan`. */
function parseValue(text: string, type: CsType): unknown {
  const parse = typeInfo(type.name)
    ?.members.get("Parse")
    ?.find(({ parameters }) => parameters.length === 1)
  return parse === undefined ? unbox(text, type) : (parse.run as (text: string) => unknown)(text)
}

/** Numbers and booleans, which have only one text form. */
function isPlain(value: unknown): boolean {
  return ["number", "bigint", "boolean"].includes(typeof value) || value instanceof Boxed
}

function isValue(type: CsType): boolean {
  return typeInfo(type.name)?.isValue === true
}

/** `context.Variables`. */
function declareVariables(): void {
  // An unset variable is null. Unlike .NET's dictionary, that of Azure API Management does not throw, and documents compare with null or write `?? ""`.
  const read = (_self: unknown, name: string): unknown => variable(name)?.value ?? null
  declareType(
    "IVariables",
    { bases: ["IReadOnlyDictionary<string, object>"], holds: (value) => value === variablesObject },
    {
      "this[string name]: object": read,
      "ContainsKey(string name): bool": (_self: unknown, name: string) => currentHost().variables.has(name),
      "TryGetValue(string name, out object value): bool": (_self: unknown, name: string, out: OutPlace) => {
        const found = variable(name)
        out.set(found?.value ?? null)
        return found !== undefined
      },
      "GetValueOrDefault(string name): object": (_self: unknown, name: string) =>
        variable(name)?.value ?? null,
      "GetValueOrDefault(string name, object fallback): object": (
        _self: unknown,
        name: string,
        fallback: unknown,
      ) => variable(name)?.value ?? fallback,
      "typed GetValueOrDefault<R>(string name): R": (
        types: readonly CsType[],
        _self: unknown,
        name: string,
      ) => typedVariable(types, name, defaultOf(types[0] as CsType)),
      "typed GetValueOrDefault<R>(string name, R fallback): R": (
        types: readonly CsType[],
        _self: unknown,
        name: string,
        fallback: unknown,
      ) => typedVariable(types, name, fallback),
      "Count: int": () => currentHost().variables.size,
      "Keys: List<string>": () => new CsList([...currentHost().variables.keys()]),
      "op_Elements(): IEnumerable<KeyValuePair<string, object>>": () =>
        [...currentHost().variables.keys()].map(
          (name) => new KeyValuePair(name, variable(name)?.value ?? null),
        ),
    },
  )
}

/** Declares a type whose properties are fields of the host's object. */
function declarePart<T>(
  type: string,
  fields: Readonly<Record<string, (source: T) => unknown>>,
  more: Record<string, Row> = {},
): void {
  const rows: Record<string, Row> = { ...more }
  for (const [signature, read] of Object.entries(fields))
    rows[signature] = (self: Part<T>) => read(self.source) ?? null
  declareType(type, { holds: (value) => value instanceof Part && value.typeName === type }, rows)
}

const dateOrNull = (ms: number | undefined): DateTime | null =>
  ms === undefined ? null : DateTime.fromMs(ms, "utc")

interface Named {
  readonly id: string
  readonly name: string
  readonly path?: string
}

/**
 * The parts of `context` that describe where a request is served. `IsCurrentRevision` is always true: one plan has one revision of each
 * API.
 */
function declareParts(): void {
  declarePart<PolicyApi>("IApi", {
    "Id: string": (api) => api.id,
    "Name: string": (api) => api.name,
    "Path: string": (api) => api.path,
    "Protocols: IEnumerable<string>": (api) => [...api.protocols],
    "ServiceUrl: IUrl": (api) => (api.serviceUrl === undefined ? null : new Url(api.serviceUrl)),
    "SubscriptionKeyParameterNames: ISubscriptionKeyParameterNames": (api) =>
      new Part("ISubscriptionKeyParameterNames", api),
    "Revision: string": (api) => api.revision,
    "Version: string": (api) => api.version,
    "IsCurrentRevision: bool": () => true,
  })
  declarePart<PolicyApi>("ISubscriptionKeyParameterNames", {
    "Header: string": (api) => api.keyHeader,
    "Query: string": (api) => api.keyQuery,
  })
  declarePart<PolicyDeployment>("IDeployment", {
    "Region: string": (deployment) => deployment.region,
    "ServiceId: string": (deployment) => deployment.serviceId,
    "ServiceName: string": (deployment) => deployment.serviceName,
    "GatewayId: string": (deployment) => deployment.gatewayId,
    "Gateway: IGateway": (deployment) => new Part("IGateway", deployment),
    "Certificates: IReadOnlyDictionary<string, X509Certificate2>": (deployment) => {
      const made = new CsDictionary("ignore-case")
      for (const [id, source] of deployment.certificates) made.set(id, new Certificate(source))
      return made
    },
  })
  declarePart<PolicyDeployment>("IGateway", {
    "Id: string": (deployment) => deployment.gatewayId,
    "InstanceId: string": (deployment) => deployment.instanceId,
    // False: Azure does not run these gateways. Documents use it to route requests differently in Azure's own gateway.
    "IsManaged: bool": () => false,
  })
  declarePart<PolicyError>("ILastError", {
    "Source: string": (error) => error.source,
    "Reason: string": (error) => error.reason,
    "Message: string": (error) => error.message,
    "Scope: string": (error) => error.scope,
    "Section: string": (error) => error.section,
    "Path: string": (error) => error.path,
    "PolicyId: string": (error) => error.policyId,
  })
  declarePart<PolicyOperation>("IOperation", {
    "Id: string": (operation) => operation.id,
    "Name: string": (operation) => operation.name,
    "Method: string": (operation) => operation.method,
    "UrlTemplate: string": (operation) => operation.urlTemplate,
  })
  declareSubscribers()
}

/** The parts of `context` that describe the caller. */
function declareSubscribers(): void {
  const list = (type: string, items: readonly unknown[]): unknown => items.map((item) => new Part(type, item))
  declarePart<PolicyProduct>("IProduct", {
    "Id: string": (product) => product.id,
    "Name: string": (product) => product.name,
    "State: string": (product) => product.state,
    "ApprovalRequired: bool": (product) => product.approvalRequired,
    "SubscriptionRequired: bool": (product) => product.subscriptionRequired,
    "SubscriptionLimit: int?": (product) => product.subscriptionLimit,
    "Groups: IEnumerable<IGroup>": (product) => list("IGroup", product.groups),
    "Apis: IEnumerable<IApiReference>": (product) => list("IApiReference", product.apis),
  })
  declarePart<Named>("IApiReference", {
    "Id: string": (api) => api.id,
    "Name: string": (api) => api.name,
    "Path: string": (api) => api.path,
  })
  declarePart<Named>("IGroup", { "Id: string": (group) => group.id, "Name: string": (group) => group.name })
  declarePart<PolicySubscription>("ISubscription", {
    "Id: string": (subscription) => subscription.id,
    "Name: string": (subscription) => subscription.name,
    "Key: string": (subscription) => subscription.key,
    "CreatedDate: DateTime": (subscription) => dateOrNull(subscription.createdMs),
    "StartDate: DateTime?": (subscription) => dateOrNull(subscription.startMs),
    "EndDate: DateTime?": (subscription) => dateOrNull(subscription.endMs),
  })
  declarePart<PolicyUser>("IUser", {
    "Id: string": (user) => user.id,
    "Email: string": (user) => user.email,
    "FirstName: string": (user) => user.firstName,
    "LastName: string": (user) => user.lastName,
    "Note: string": (user) => user.note,
    "RegistrationDate: DateTime": (user) => dateOrNull(user.registeredMs),
    "Groups: IEnumerable<IGroup>": (user) => list("IGroup", user.groups),
    "Identities: IEnumerable<IUserIdentity>": (user) => list("IUserIdentity", user.identities),
  })
  declarePart<{ id: string; provider: string }>("IUserIdentity", {
    "Id: string": (identity) => identity.id,
    "Provider: string": (identity) => identity.provider,
  })
}

/** `context` and all its parts. */
export function declareContext(): void {
  declareContextItself()
  declareVariables()
  declareParts()
}
