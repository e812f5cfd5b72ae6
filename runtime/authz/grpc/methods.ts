import type { DescMessage, DescService } from "@bufbuild/protobuf"
import { invalid, type JsonFields } from "../fields.ts"
import type { ApiRoute } from "../route.ts"
import { routes } from "../routes.ts"
import { registry } from "./descriptors.ts"
import { codecOf, type MessageCodec } from "./message-codec.ts"

/** Fields of a message that HTTP has in the path. */
export interface PathFields {
  readonly store: string
  readonly id: string
}

/** A method whose resource is that of a route over HTTP. */
export interface ResourceMethod {
  readonly kind: "resource"
  /** Its name in metrics and logs. */
  readonly name: string
  readonly path: string
  readonly route: ApiRoute
  readonly response: MessageCodec
  /**
   * Reads a request: the fields that HTTP has in the path, and the others, because resources refuse fields that they do not know.
   * @throws MalformedMessage · ApiError when the store is missing
   */
  read(message: Uint8Array): { readonly path: PathFields; readonly fields: JsonFields }
}

/** A method that only gRPC has. */
export interface OwnMethod {
  readonly kind: "health check" | "health watch" | "reflection"
  readonly name: string
  readonly path: string
  readonly request: MessageCodec
  readonly response: MessageCodec
}

export type GrpcMethod = ResourceMethod | OwnMethod

/** Full names of the services, in the order in which reflection lists them. */
export const serviceNames = [
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
  "openfga.v1.OpenFGAService",
] as const

const health = { kind: "health check", name: "Health" } as const
const watch = { kind: "health watch", name: "Health" } as const
const reflection = { kind: "reflection", name: "ServerReflectionInfo" } as const

const own: Readonly<Record<string, Pick<OwnMethod, "kind" | "name">>> = {
  "grpc.health.v1.Health/Check": health,
  "grpc.health.v1.Health/Watch": watch,
  "grpc.reflection.v1.ServerReflection/ServerReflectionInfo": reflection,
  "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": reflection,
}

/** Methods by path, `/package.Service/Method`. */
export const methods: ReadonlyMap<string, GrpcMethod> = new Map(
  serviceNames.flatMap((name) => {
    const service = registry.getService(name)
    if (service === undefined) throw new Error(`no service ${name}`)
    return methodsOf(service)
  }),
)

function methodsOf(service: DescService): (readonly [string, GrpcMethod])[] {
  return service.methods.map((method) => {
    const name = `${service.typeName}/${method.name}`
    const path = `/${name}`
    const [request, response] = [codecOf(method.input.typeName), codecOf(method.output.typeName)]
    const ours = own[name]
    if (ours !== undefined) return [path, { ...ours, path, request, response }] as const
    const route = routes.find((each) => each.name === method.name)
    if (route === undefined) throw new Error(`no route for the method ${name}`)
    const read = readerOf(route, method.input, request)
    return [path, { kind: "resource", name: route.name, path, route, read, response }] as const
  })
}

/** `{store}` is `store_id` in messages; `{id}`, the model, is `authorization_model_id`, or `id` in the request that reads one. */
function readerOf(
  { path }: ApiRoute,
  { name, fields: known }: DescMessage,
  codec: MessageCodec,
): ResourceMethod["read"] {
  const hasId = known.some((each) => each.name === "id")
  const idField = !path.includes("{id}") ? undefined : hasId ? "id" : "authorization_model_id"
  const hasStore = path.includes("{store}")
  return (message) => {
    const apart: Record<string, unknown> = { store_id: "" }
    if (idField !== undefined) apart[idField] = ""
    const fields = codec.decode(message, apart)
    const store = textOf(apart["store_id"])
    if (hasStore && store === "") throw invalid(name, "StoreId", "value is required")
    return { path: { store, id: idField === undefined ? "" : textOf(apart[idField]) }, fields }
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}
