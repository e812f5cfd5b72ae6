import type { DescService } from "@bufbuild/protobuf"
import { invalid } from "../fields.ts"
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
  readonly request: MessageCodec
  readonly response: MessageCodec
  /** Takes the fields that HTTP has in the path out of a message. */
  pathOf(fields: Record<string, unknown>): PathFields
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
    const codecs = {
      path: `/${name}`,
      request: codecOf(method.input.typeName),
      response: codecOf(method.output.typeName),
    }
    const ours = own[name]
    if (ours !== undefined) return [`/${name}`, { ...ours, ...codecs }] as const
    const route = routes.find((each) => each.name === method.name)
    if (route === undefined) throw new Error(`no route for the method ${name}`)
    const pathOf = pathReader(route, method.input.name, new Set(method.input.fields.map((each) => each.name)))
    return [`/${name}`, { kind: "resource", name: route.name, route, pathOf, ...codecs }] as const
  })
}

/** `{store}` is `store_id` in messages; `{id}`, the model, is `authorization_model_id`, or `id` in the request that reads one. */
function pathReader(
  { path }: ApiRoute,
  message: string,
  names: ReadonlySet<string>,
): ResourceMethod["pathOf"] {
  const idField = !path.includes("{id}") ? undefined : names.has("id") ? "id" : "authorization_model_id"
  const hasStore = path.includes("{store}")
  return (fields) => {
    const taken = {
      store: textOf(fields, "store_id"),
      id: idField === undefined ? "" : textOf(fields, idField),
    }
    if (hasStore && taken.store === "") throw invalid(message, "StoreId", "value is required")
    return taken
  }
}

/** Removes a field, because resources refuse fields that they do not know. */
function textOf(fields: Record<string, unknown>, name: string): string {
  const text = fields[name]
  delete fields[name]
  return typeof text === "string" ? text : ""
}
