import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { firstAttribute, textAttribute, wholeAttribute } from "../tracing/attributes.ts"

/** Tells the processes of a service apart (`service.instance.id`). */
const instance = randomUUID()

/** What is sent by this process, as JSON of OTLP's `Resource`: for traces and metrics the same. */
export function resourceOf(service: string, version: string): string {
  const attributes =
    firstAttribute("service.name")(service) +
    textAttribute("service.version")(version) +
    textAttribute("service.instance.id")(instance) +
    textAttribute("host.name")(hostname()) +
    wholeAttribute("process.pid")(process.pid) +
    textAttribute("telemetry.sdk.name")("sallyport") +
    textAttribute("telemetry.sdk.language")("nodejs") +
    textAttribute("telemetry.sdk.version")(version)
  return `{"attributes":[${attributes}]}`
}
