import type { DescFile } from "@bufbuild/protobuf"
import type { JsonFields } from "../fields.ts"
import { fileBytes, registry } from "./descriptors.ts"
import { serviceNames } from "./methods.ts"

const notFoundCode = 5
const unimplementedCode = 12

/** The response to one request of `ServerReflectionInfo`, which has the same fields in `v1` and `v1alpha`. */
export function reflect(request: JsonFields): object {
  const { host = "" } = request
  return { validHost: host, originalRequest: request, ...answerOf(request) }
}

function answerOf({ listServices, fileByFilename, fileContainingSymbol, ...other }: JsonFields): object {
  if (listServices !== undefined)
    return { listServicesResponse: { service: serviceNames.map((name) => ({ name })) } }
  if (typeof fileByFilename === "string")
    return filesOf(registry.getFile(fileByFilename), `file ${fileByFilename}`)
  if (typeof fileContainingSymbol === "string")
    return filesOf(fileOfSymbol(fileContainingSymbol), `symbol ${fileContainingSymbol}`)
  if (other["fileContainingExtension"] !== undefined || other["allExtensionNumbersOfType"] !== undefined)
    return failure(notFoundCode, "there are no extensions")
  return failure(unimplementedCode, "the request has no question that this server knows")
}

/** A message, enum, service, or a field, value or method of one. */
function fileOfSymbol(symbol: string): DescFile | undefined {
  const name = symbol.replace(/^\./, "")
  const found = registry.get(name)
  if (found !== undefined && "file" in found) return found.file
  const dot = name.lastIndexOf(".")
  return dot < 0 ? undefined : memberFile(name.slice(0, dot), name.slice(dot + 1))
}

function memberFile(owner: string, member: string): DescFile | undefined {
  const found = registry.get(owner)
  if (found === undefined || !("file" in found)) return undefined
  const members =
    found.kind === "service"
      ? found.methods
      : found.kind === "message"
        ? [...found.fields, ...found.oneofs]
        : found.kind === "enum"
          ? found.values
          : []
  return members.some((each) => each.name === member) ? found.file : undefined
}

/** The file with all files that it imports: clients need no further request. */
function filesOf(file: DescFile | undefined, what: string): object {
  if (file === undefined) return failure(notFoundCode, `there is no ${what}`)
  const files = new Map<string, DescFile>()
  const add = (each: DescFile): void => {
    if (files.has(each.name)) return
    files.set(each.name, each)
    each.dependencies.forEach(add)
  }
  add(file)
  const fileDescriptorProto = [...files.values()].map((each) => fileBytes(each.proto))
  return { fileDescriptorResponse: { fileDescriptorProto } }
}

function failure(errorCode: number, errorMessage: string): object {
  return { errorResponse: { errorCode, errorMessage } }
}
