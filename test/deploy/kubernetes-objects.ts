import { readFileSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import { Ajv2020 } from "ajv/dist/2020.js"
import { parseAllDocuments } from "yaml"
import { variables } from "../../compiler/cli/variables.ts"

/** An object of Kubernetes, of any kind. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: unknown
  readonly data?: Readonly<Record<string, string>>
}

/** A pod in a Deployment or a Job, as far as tests look at it. */
export interface PodSpec {
  readonly automountServiceAccountToken: boolean
  readonly restartPolicy?: string
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly terminationGracePeriodSeconds?: number
  readonly containers: readonly Container[]
  readonly volumes?: readonly { readonly name: string }[]
}

interface Container {
  readonly image: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string }[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } }
  readonly securityContext: unknown
  readonly resources: { readonly requests: object; readonly limits: Readonly<Record<string, string>> }
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
  readonly startupProbe?: Probe
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

interface Schemas {
  readonly kinds: Readonly<Record<string, string>>
}

const schemas = JSON.parse(
  readFileSync(new URL("schemas/kubernetes.json", import.meta.url), "utf8"),
) as Schemas
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false })
ajv.addSchema(schemas, "kubernetes")

/** The objects in YAML text. */
export function objectsIn(text: string): KubeObject[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    return (document.toJS() as KubeObject | null) ?? []
  })
}

/** What the API of Kubernetes would refuse. Kinds of the Prometheus Operator have no schema here. */
export function schemaBreaches(object: KubeObject): string[] {
  const { kind, apiVersion } = object
  if (apiVersion === "monitoring.coreos.com/v1") return []
  const name = schemas.kinds[kind]
  if (name === undefined) return [`no schema for ${apiVersion} ${kind}`]
  const validate = ajv.getSchema(`kubernetes#/$defs/${name}`)
  if (validate === undefined) throw new Error(`no definition ${name}`)
  if (validate(object) === true) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${kind} ${object.metadata.name}${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

/** The pod of a Deployment or a Job; undefined for other kinds. */
export function podOf({ kind, spec }: KubeObject): PodSpec | undefined {
  if (kind !== "Deployment" && kind !== "Job") return undefined
  return (spec as { readonly template: { readonly spec: PodSpec } }).template.spec
}

/** What the restricted Pod Security Standard, and this project, demand of a pod. */
export function securityBreaches(pod: PodSpec): string[] {
  const found: string[] = []
  const { runAsNonRoot, runAsUser, seccompProfile } = pod.securityContext
  if (runAsNonRoot !== true || runAsUser !== 1000) found.push("may run as root, or not as the image's user")
  if ((seccompProfile as { type?: string } | undefined)?.type !== "RuntimeDefault")
    found.push("no seccomp profile")
  for (const { securityContext, resources, volumeMounts = [] } of pod.containers) {
    const wanted = {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    }
    if (!isDeepStrictEqual(securityContext, wanted)) found.push("container is not restricted")
    if (resources.limits["memory"] === undefined) found.push("no limit of memory")
    for (const { name } of volumeMounts)
      if (!(pod.volumes ?? []).some((volume) => volume.name === name)) found.push(`no volume ${name}`)
  }
  return found
}

/** Variables beginning with SALLYPORT_ that no command reads. */
export function unknownVariables(names: readonly string[]): string[] {
  return names.filter((name) => name.startsWith("SALLYPORT_") && variables[name] === undefined)
}
