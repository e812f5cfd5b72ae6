import { computed, signal, useSignalEffect } from "@preact/signals"
import type { ComponentType } from "preact"
import { useMemo } from "preact/hooks"
import type { EditorHelp, EditorProps } from "../../runtime/control/console/page/parts/editor.tsx"
import { Ask, suggest } from "./ask.tsx"
import { completionsAt, hoverAt } from "./client.ts"
import {
  analysis,
  busy,
  change,
  close,
  dataPath,
  dataPaths,
  hasGatewayFile,
  isData,
  jump,
  makeLink,
  show,
  sourcePath,
  sourcePaths,
  store,
  storeId,
  texts,
} from "./project.ts"
import type { ShownStore } from "./protocol.ts"
import { forgetRequests, Requests } from "./requests.tsx"
import { Findings, gatewayTests, Tests } from "./results.tsx"
import { zipOf } from "./zip.ts"

const allTabs = ["Ask", "Requests", "Tests", "Graph", "Findings"] as const
type Tab = (typeof allTabs)[number]
/** What the person chose; undefined: what the project is mostly about. */
const chosenTab = signal<Tab | undefined>(undefined)
const tabs = computed<readonly Tab[]>(() =>
  allTabs.filter((each) => each !== "Requests" || hasGatewayFile.value),
)
const tab = computed<Tab>(() => {
  const chosen = chosenTab.value
  if (chosen !== undefined && tabs.value.includes(chosen)) return chosen
  const isGatewayAlone = analysis.value?.stores.length === 0 && hasGatewayFile.value
  return isGatewayAlone ? "Requests" : "Ask"
})
const perStore: readonly Tab[] = ["Ask", "Graph"]
const Editor = signal<ComponentType<EditorProps> | undefined>(undefined)
const Drawing = signal<ComponentType | undefined>(undefined)
let suggestedFor: string | undefined

/** The open project: sources, tuples and tests, and answers beside each other. */
export function Bench() {
  // The editor and the drawing are loaded when they are first seen.
  if (Editor.value === undefined)
    void import("../../runtime/control/console/page/parts/editor.tsx").then((loaded) => {
      Editor.value = loaded.Editor
    })
  useSignalEffect(() => suggestOnce(store.value))
  return (
    <div class="bench">
      <header class="bar">
        <h1>Sallyport playground</h1>
        <div class="row">
          {busy.value && <span class="quiet">Compiling …</span>}
          <button type="button" class="primary" onClick={() => void makeLink()}>
            Copy link
          </button>
          <button type="button" onClick={save}>
            Save
          </button>
          <button type="button" onClick={leave}>
            Close
          </button>
        </div>
      </header>
      <main class="panes">
        <Pane label="Source" paths={sourcePaths.value} path={sourcePath.value} />
        <Pane label="Tuples and tests" paths={dataPaths.value} path={dataPath.value} />
        <Results />
      </main>
    </div>
  )
}

function Pane(props: {
  readonly label: string
  readonly paths: readonly string[]
  readonly path: string | undefined
}) {
  const { label, paths, path } = props
  return (
    <section class="pane" aria-label={label}>
      <label class="pane-head">
        <span>{label}</span>
        <select value={path} onChange={(event) => show(event.currentTarget.value)}>
          {paths.map((each) => (
            <option key={each} value={each} selected={each === path}>
              {each + errorsOf(each)}
            </option>
          ))}
        </select>
      </label>
      {path === undefined ? (
        <p class="quiet empty">The project has no such file.</p>
      ) : (
        <Text key={path} path={path} label={label} />
      )}
    </section>
  )
}

/** What the language service knows. Documents and store files have none. */
const help: EditorHelp = { complete: completionsAt, hover: hoverAt }

/** The editor of one file with its findings. */
function Text({ path, label }: { readonly path: string; readonly label: string }) {
  const findings = analysis.value?.findings
  const marks = useMemo(
    () =>
      (findings ?? [])
        .filter((finding) => finding.path === path)
        .map(({ start, end, severity, title, detail, help }) => ({
          ...{ start, end, severity },
          message: `${title}: ${detail}${help === undefined ? "" : `\n${help}`}`,
        })),
    [findings, path],
  )
  const to = jump.value
  return (
    Editor.value && (
      <Editor.value
        path={path}
        label={`${label}: ${path}`}
        text={texts.value?.[path] ?? ""}
        marks={marks}
        place={to?.path === path ? to : undefined}
        onChange={(text) => change(path, text)}
        help={isData(path) ? undefined : help}
      />
    )
  )
}

function errorsOf(path: string): string {
  const count = (analysis.value?.findings ?? []).filter(
    (each) => each.path === path && each.severity === "error",
  ).length
  return count === 0 ? "" : ` (${count === 1 ? "1 error" : `${count} errors`})`
}

function Results() {
  const stores = analysis.value?.stores ?? []
  return (
    <section class="pane results" aria-label="Results">
      <div class="tabs" role="tablist" aria-label="Results" onKeyDown={moveTab}>
        {tabs.value.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            aria-selected={tab.value === each}
            aria-controls="result"
            tabIndex={tab.value === each ? 0 : -1}
            onClick={() => (chosenTab.value = each)}
          >
            {each}
            <Count of={each} />
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard does not scroll the panel (WCAG 2.1.1). */}
      <div class="result" id="result" role="tabpanel" aria-labelledby={`tab-${tab.value}`} tabIndex={0}>
        {stores.length > 1 && perStore.includes(tab.value) && (
          <label class="field">
            <span>Store</span>
            <select
              onChange={(event) => {
                storeId.value = event.currentTarget.value
              }}
            >
              {stores.map(({ id, name }) => (
                <option key={id} value={id} selected={id === store.value?.id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <Result />
      </div>
    </section>
  )
}

function Result() {
  if (analysis.value === undefined) return <p class="quiet empty">Compiling …</p>
  if (tab.value === "Ask") return <Ask />
  if (tab.value === "Requests") return <Requests />
  if (tab.value === "Tests") return <Tests />
  if (tab.value === "Findings") return <Findings />
  if (Drawing.value === undefined) {
    void import("./drawing.tsx").then((loaded) => {
      Drawing.value = loaded.Drawing
    })
    return <p class="quiet empty">Loading …</p>
  }
  return <Drawing.value />
}

/** What needs attention behind a tab. */
function Count({ of }: { readonly of: Tab }) {
  const known = analysis.value
  if (of === "Findings" && known !== undefined && known.findings.length > 0) {
    const errors = known.findings.some(({ severity }) => severity === "error")
    return <span class={`badge ${errors ? "bad" : "warn"}`}>{known.findings.length}</span>
  }
  const ofGateway = (gatewayTests.newest?.tests ?? []).filter(({ passed }) => !passed)
  const ofStores = (known?.stores ?? []).flatMap(({ tests }) => tests.filter(({ passed }) => !passed))
  const failed = ofStores.length + ofGateway.length
  if (of !== "Tests" || failed === 0) return null
  return <span class="badge bad">{`${failed} failed`}</span>
}

function moveTab(event: KeyboardEvent): void {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0
  if (step === 0) return
  const all = tabs.value
  const next = all[(all.indexOf(tab.value) + step + all.length) % all.length] ?? "Ask"
  chosenTab.value = next
  document.getElementById(`tab-${next}`)?.focus()
}

/** A new store gets a first question, which an edit of the same store does not replace. */
function suggestOnce(known: ShownStore | undefined): void {
  if (known === undefined || suggestedFor === known.id) return
  suggestedFor = known.id
  suggest(known)
}

function leave(): void {
  close()
  forgetRequests()
  gatewayTests.forget()
  chosenTab.value = undefined
}

/** Saves the project as a ZIP archive. */
function save(): void {
  const url = URL.createObjectURL(new Blob([zipOf(texts.peek() ?? {})], { type: "application/zip" }))
  const link = document.createElement("a")
  link.href = url
  link.download = "project.zip"
  link.click()
  URL.revokeObjectURL(url)
}
