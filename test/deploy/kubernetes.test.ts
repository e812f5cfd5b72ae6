import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { describe, expect, test } from "vitest"
import { parse } from "yaml"
import manifest from "../../package.json" with { type: "json" }
import { projectRoot } from "../structure/tree.ts"
import { outputOf, programPath } from "../support/program.ts"
import {
  type KubeObject,
  objectsIn,
  podOf,
  schemaBreaches,
  securityBreaches,
  unknownVariables,
} from "./kubernetes-objects.ts"

const folder = `${projectRoot}runtime/deploy/kubernetes`
const chart = `${projectRoot}runtime/deploy/helm/sallyport`

/** The objects in the files of a folder, before Kustomize changes them. */
function objectsOf(part: string): KubeObject[] {
  return readdirSync(`${folder}/${part}`)
    .filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml")
    .flatMap((name) => objectsIn(readFileSync(`${folder}/${part}/${name}`, "utf8")))
}

const parts = ["base", "migrate", "components/endpoint-slices", "components/monitoring"]
const objects = parts.flatMap(objectsOf)
const find = (kind: string, name = "sallyport") => {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name)
  if (found === undefined) throw new Error(`no ${kind} ${name}`)
  return found
}
const server = podOf(find("Deployment"))
const container = server?.containers[0]

/** With `npm run docs`, the copies of the alerts are written anew. */
function copyOf(path: string, wanted: string): void {
  if (process.env["UPDATE"] === "1") writeFileSync(path, wanted)
  else expect(readFileSync(path, "utf8"), `${path} is old: run \`npm run docs\``).toBe(wanted)
}

describe("the objects for Kubernetes", () => {
  test("match the schemas of Kubernetes, without unknown fields", () => {
    expect(objects.flatMap(schemaBreaches)).toEqual([])
    expect(objects.length).toBeGreaterThan(10)
    const wrong = { ...find("PodDisruptionBudget"), spec: { maxUnavailble: 1 } }
    expect(schemaBreaches(wrong).join()).toContain("maxUnavailble")
  })

  test("run restricted pods with the image of this version and variables that exist", () => {
    for (const object of objects) {
      const pod = podOf(object)
      if (pod === undefined) continue
      expect(securityBreaches(pod), object.metadata.name).toEqual([])
      for (const { image, env } of pod.containers) {
        expect(image).toBe(`sallyport:${manifest.version}`)
        expect(unknownVariables(env.map(({ name }) => name))).toEqual([])
      }
    }
    expect(unknownVariables(Object.keys(find("ConfigMap").data ?? {}))).toEqual([])
  })

  test("ask the probes that mean it, on the control listener", () => {
    const ports = container?.ports ?? []
    const control = ports.find(({ name }) => name === "control")?.containerPort
    expect(find("ConfigMap").data?.["SALLYPORT_CONTROL_LISTEN"]).toBe(`0.0.0.0:${control}`)
    const { startupProbe, livenessProbe, readinessProbe } = container ?? {}
    expect([startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet)).toEqual([
      { path: "/startupz", port: "control" },
      { path: "/healthz", port: "control" },
      { path: "/readyz", port: "control" },
    ])
  })

  test("give a pod more time to end than it takes", () => {
    const preStop = Number(container?.lifecycle?.preStop.exec.command[1])
    // 10 s for requests and 1 s for kept connections, see `graceMs` of the runtime; the rest is for the last writes.
    expect(server?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(preStop + 11 + 10)
  })

  test("select the pods, and only ports that pods have", () => {
    const labels = { "app.kubernetes.io/name": "sallyport", "app.kubernetes.io/component": "server" }
    const names = (container?.ports ?? []).map(({ name }) => name)
    for (const { kind, metadata, spec } of objects.filter((each) => each.kind === "Service")) {
      const { selector, ports } = spec as { selector: object; ports: { targetPort: string }[] }
      expect(selector, `${kind} ${metadata.name}`).toEqual(labels)
      for (const { targetPort } of ports) expect(names).toContain(targetPort)
    }
    for (const kind of ["Deployment", "PodDisruptionBudget"])
      expect((find(kind).spec as { selector: { matchLabels: object } }).selector.matchLabels).toEqual(labels)
    const { ingress } = find("NetworkPolicy").spec as { ingress: { ports: { port: string }[] }[] }
    expect(ingress.flatMap((rule) => rule.ports.map(({ port }) => port))).toEqual(names)
    const { endpoints } = find("ServiceMonitor").spec as { endpoints: { port: string; path: string }[] }
    expect(endpoints).toMatchObject([{ port: "control", path: "/metrics" }])
  })

  test("have the same alerts as Prometheus", () => {
    const alerts = readFileSync(`${projectRoot}runtime/deploy/prometheus/alerts.yaml`, "utf8")
    copyOf(`${chart}/files/alerts.yaml`, alerts)
    const head = `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: sallyport
  labels:
    app.kubernetes.io/name: sallyport
    app.kubernetes.io/part-of: sallyport
spec:
`
    const rule = head + alerts.replace(/^(?=.)/gm, "  ")
    copyOf(`${folder}/components/monitoring/prometheus-rule.yaml`, rule)
    expect(objectsIn(rule)[0]?.spec).toEqual(parse(alerts))
  })

  test("have no secret", () => {
    expect(objects.filter(({ kind }) => kind === "Secret")).toEqual([])
  })
})

test("the chart and the overlay have the version of the package", () => {
  const image = readFileSync(`${folder}/overlays/production/image/kustomization.yaml`, "utf8")
  expect((parse(image) as { images: unknown[] }).images).toMatchObject([{ newTag: manifest.version }])
  const { version, appVersion } = parse(readFileSync(`${chart}/Chart.yaml`, "utf8")) as Record<string, string>
  expect([version, appVersion]).toEqual([manifest.version, manifest.version])
})

const kustomize = programPath("kustomize")
const helm = programPath("helm")
const build = (overlay: string) => objectsIn(outputOf(kustomize ?? "", ["build", `${folder}/${overlay}`]))
/** Helm built by `go install` takes a cluster for one of Kubernetes 1.20. */
const version = ["--kube-version", "1.34.0"]
const render = (...flags: string[]) =>
  objectsIn(
    outputOf(helm ?? "", ["template", "sallyport", chart, "--namespace", "sallyport", ...version, ...flags]),
  )

test("Kustomize builds the overlays, and each object matches its schema", (context) => {
  if (kustomize === undefined)
    return context.skip("needs kustomize: go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1")
  const production = build("overlays/production")
  const built = [
    ...production,
    ...build("overlays/production/migrate"),
    ...build("overlays/dev"),
    ...build("overlays/production/other-namespace"),
  ]
  expect(built.flatMap(schemaBreaches)).toEqual([])
  for (const object of built) {
    const pod = podOf(object)
    if (pod !== undefined) expect(securityBreaches(pod), object.metadata.name).toEqual([])
    if (object.kind !== "Namespace") expect(object.metadata.namespace).toMatch(/^(sallyport(-dev)?|shop)$/)
  }
  const kinds = (all: readonly KubeObject[]) => all.map(({ kind }) => kind)
  expect(kinds(production)).toContain("HorizontalPodAutoscaler")
  expect(kinds(build("overlays/dev"))).not.toContain("HorizontalPodAutoscaler")
})

describe("the chart of Helm", () => {
  const missing = "needs helm: go install helm.sh/helm/v3/cmd/helm@v3.22.0"

  test("makes the same objects as Kustomize", (context) => {
    if (helm === undefined || kustomize === undefined) return context.skip(missing)
    const kustomized = [...build("overlays/production"), ...build("overlays/production/migrate")]
    const rendered = render(
      ...["--set", "monitoring.enabled=true", "--set", "image.repository=registry.example/sallyport"],
    )
    const comparable = (all: readonly KubeObject[]) =>
      Object.fromEntries(
        all
          .filter(({ kind }) => kind !== "Namespace")
          .map((each) => [`${each.kind} ${each.metadata.name}`, withoutTool(each)] as const)
          .sort(([one], [other]) => (one < other ? -1 : 1)),
      )
    expect(comparable(rendered)).toEqual(comparable(kustomized))
  })

  test("gives the same rights in the namespaces of other Services", (context) => {
    if (helm === undefined || kustomize === undefined) return context.skip(missing)
    const rights = (all: readonly KubeObject[]) =>
      all
        .filter(({ kind }) => /^Role/.test(kind))
        .map((each) => ({ ...withoutTool(each), namespace: each.metadata.namespace }))
    const at = (found: ReturnType<typeof rights>, wanted: string) =>
      found.filter(({ namespace }) => namespace === wanted)
    const enabled = ["--set", "endpointSlices.enabled=true"]
    const rendered = rights(render(...enabled, "--set", "endpointSlices.namespaces={shop,sallyport,stock}"))
    expect(rendered).toHaveLength(6)
    const shop = rights(build("overlays/production/other-namespace"))
    expect(at(rendered, "shop")).toEqual(shop)
    expect(at(rendered, "stock")).toEqual(shop.map((each) => ({ ...each, namespace: "stock" })))
    const own = rights(kustomizedTogether("overlays/production", "components/endpoint-slices"))
    expect(at(rendered, "sallyport")).toEqual(own)
    expect(own.map(({ kind }) => kind)).toEqual(["Role", "RoleBinding"])
    expect(shop).toMatchObject([{}, { subjects: [{ name: "sallyport", namespace: "sallyport" }] }])
    expect(() => render("--set", "endpointSlices.namespaces={shop}")).toThrow("endpointSlices.enabled")
    expect(() => render(...enabled, "--set", "endpointSlices.namespaces={Shop}")).toThrow("namespaces")
  })

  test("makes valid objects of every value, and refuses unknown ones", (context) => {
    if (helm === undefined) return context.skip(missing)
    const lint = outputOf(helm, ["lint", "--strict", chart])
    expect(lint).toContain("0 chart(s) failed")
    const values = [
      ...["autoscaling.enabled=false", "endpointSlices.enabled=true", "service.type=LoadBalancer"],
      ...["imagePullSecrets[0].name=pull", "podAnnotations.a=b", "nodeSelector.disk=ssd"],
      ...["tolerations[0].operator=Exists", "disruptionBudget.maxUnavailable=25%"],
      ...[
        "serviceAccount.annotations.a=b",
        "service.annotations.a=b",
        "config.SALLYPORT_DATABASE_POOL_SIZE=20",
      ],
      `image.digest=sha256:${"a".repeat(64)}`,
    ]
    const rendered = render(...values.flatMap((value) => ["--set", value]))
    expect(rendered.flatMap(schemaBreaches)).toEqual([])
    const deployment = rendered.find(({ kind }) => kind === "Deployment")
    expect(deployment?.spec).toMatchObject({ replicas: 2 })
    expect(podOf(deployment as KubeObject)).toMatchObject({
      automountServiceAccountToken: true,
      containers: [{ image: `sallyport@sha256:${"a".repeat(64)}` }],
    })
    expect(() => render("--set", "replicaCount=3")).toThrow("replicaCount")
    expect(() => render("--set", "config.SALLYPORT_CONTROL_TOKEN=abc")).toThrow("SALLYPORT_CONTROL_TOKEN")
  })
})

/** What an overlay of somebody else makes of a folder and a component. */
function kustomizedTogether(resource: string, component: string): KubeObject[] {
  const own = mkdtempSync(join(tmpdir(), "sallyport-overlay-"))
  const at = (part: string) => relative(realpathSync(own), `${folder}/${part}`)
  const text = `namespace: sallyport\nresources: [${at(resource)}]\ncomponents: [${at(component)}]\n`
  writeFileSync(join(own, "kustomization.yaml"), text)
  try {
    return objectsIn(outputOf(kustomize ?? "", ["build", own]))
  } finally {
    rmSync(own, { recursive: true })
  }
}

/** The object without what says which tool made it. */
function withoutTool({ metadata, ...object }: KubeObject): KubeObject {
  const isOfTool = (name: string) => /^(helm\.sh|argocd\.argoproj\.io)\/|managed-by$/.test(name)
  const kept = (all: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !isOfTool(name)))
  return {
    ...object,
    metadata: { name: metadata.name, labels: kept(metadata.labels), annotations: kept(metadata.annotations) },
  }
}
