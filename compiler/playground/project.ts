import { computed, effect, signal } from "@preact/signals"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { metaAddress } from "../../runtime/control/console/page/parts/worker-channel.ts"
import { analyse, textWithTuple } from "./client.ts"
import { fragmentOf, linkCharactersMax, textsOfFragment } from "./link.ts"
import type { Analysis, ProjectTexts, ShownFinding, ShownStore } from "./protocol.ts"

/** A project of models/examples. */
export interface PlaygroundExample {
  readonly name: string
  readonly title: string
  readonly texts: ProjectTexts
}

/** The open project; undefined: the start page. */
export const texts = signal<ProjectTexts | undefined>(undefined)
/** What the worker said about it last. */
export const analysis = signal<Analysis | undefined>(undefined)
/** The worker has not yet answered for the newest text. */
export const busy = signal(false)
/** A message for the person: what went wrong, or was done. */
export const notice = signal<{ readonly tone: "good" | "bad"; readonly text: string } | undefined>(undefined)
/** Path of the file in the editor of sources, and in that of tests and tuples. */
export const sourcePath = signal<string | undefined>(undefined)
export const dataPath = signal<string | undefined>(undefined)
/** Id of the store that questions are asked of; undefined: the first. */
export const storeId = signal<string | undefined>(undefined)
export const examples = signal<readonly PlaygroundExample[]>([])
/** Where an editor shall put its cursor; a new object for each jump. */
export const jump = signal<
  { readonly path: string; readonly offset: number; readonly line?: number } | undefined
>(undefined)

/** Whether the project has a gateway, with or without errors. */
export const hasGatewayFile = computed(() => texts.value?.["gateway.conf"] !== undefined)
/** Whether a file belongs in the second editor: tuples, tests and documents. */
export const isData = (path: string): boolean => /\.(?:ya?ml|json|jsonl|csv|txt)$/.test(path)
export const sourcePaths = computed(() => Object.keys(texts.value ?? {}).filter((path) => !isData(path)))
export const dataPaths = computed(() => Object.keys(texts.value ?? {}).filter(isData))
export const store = computed<ShownStore | undefined>(() => {
  const stores = analysis.value?.stores ?? []
  return stores.find(({ id }) => id === storeId.value) ?? stores[0]
})

/** Opens a project. A model alone gets a store file, because questions need a place for tuples. */
export function open(given: ProjectTexts): void {
  const paths = Object.keys(given)
  const model = paths.find((path) => /\.fga$|(?:^|\/)fga\.mod$/.test(path))
  const hasStore = paths.some((path) => /\.fga\.ya?ml$/.test(path))
  const complete = hasStore || model === undefined ? given : { ...given, "store.fga.yaml": newStore(model) }
  texts.value = complete
  analysis.value = undefined
  storeId.value = undefined
  const all = Object.keys(complete)
  sourcePath.value =
    all.find((path) => path.endsWith(".fga")) ?? all.find((path) => !isData(path)) ?? undefined
  dataPath.value = all.find((path) => /\.fga\.ya?ml$/.test(path)) ?? all.find(isData)
}

function newStore(model: string): string {
  return `model_file: ${JSON.stringify(model)}\ntuples:\n  # - { user: "user:ann", relation: viewer, object: "document:1" }\ntests: []\n`
}

/** Changes one text. */
export function change(path: string, text: string): void {
  const known = texts.peek()
  if (known !== undefined && known[path] !== text) texts.value = { ...known, [path]: text }
}

/** Adds a tuple to the store file that questions are asked of, and shows the file. */
export async function addTuple(tuple: TupleKey): Promise<void> {
  const path = store.peek()?.path
  const text = path === undefined ? undefined : texts.peek()?.[path]
  const added = text === undefined ? undefined : await textWithTuple(text, tuple)
  if (path === undefined || added === undefined) {
    notice.value = { tone: "bad", text: "The tuple was not added: the store file has errors." }
    return
  }
  change(path, added)
  dataPath.value = path
}

/** Shows a file in its editor. */
export function show(path: string): void {
  if (isData(path)) dataPath.value = path
  else sourcePath.value = path
}

/** Shows the place of a finding. */
export function showFinding({ path, start }: ShownFinding): void {
  show(path)
  jump.value = { path, offset: start }
}

/** Shows a line of a file, counted from 1. */
export function showPlace(path: string, line: number): void {
  show(path)
  jump.value = { path, offset: 0, line }
}

/** Back to the start page. */
export function close(): void {
  texts.value = undefined
  analysis.value = undefined
  history.replaceState(null, "", location.pathname + location.search)
}

/** Puts the project into the address, and copies the address if the browser allows it. */
export async function makeLink(): Promise<void> {
  const fragment = await fragmentOf(texts.peek() ?? {})
  if (fragment.length > linkCharactersMax) {
    notice.value = { tone: "bad", text: "The project is too large for a link. Save it instead." }
    return
  }
  history.replaceState(null, "", `#${fragment}`)
  const size = `${Math.ceil(fragment.length / 1000)} kB`
  try {
    await navigator.clipboard.writeText(location.href)
    notice.value = { tone: "good", text: `Link copied (${size}). It contains the project itself.` }
  } catch {
    notice.value = { tone: "good", text: `The address of this page now contains the project (${size}).` }
  }
}

/** Follows the fragment: a project, or the name of an example. */
export async function followFragment(): Promise<void> {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const [project, example] = [fragment.get("p"), fragment.get("example")]
  try {
    if (project !== null) open(await textsOfFragment(project))
    const found = examples.value.find(({ name }) => name === example)
    if (found !== undefined) open(found.texts)
  } catch (error) {
    notice.value = { tone: "bad", text: `The link cannot be opened: ${(error as Error).message}.` }
  }
}

/** Loads the examples, which are a file of their own. */
export async function loadExamples(): Promise<void> {
  const response = await fetch(metaAddress("examples"))
  if (response.ok) examples.value = (await response.json()) as readonly PlaygroundExample[]
}

/** Sends each change to the worker; while it works, only the newest text waits. */
export function followTexts(): void {
  let running = false
  let next: ProjectTexts | undefined
  const run = async (): Promise<void> => {
    running = true
    busy.value = true
    while (next !== undefined) {
      const now: ProjectTexts = next
      next = undefined
      try {
        const made = await analyse(now)
        if (texts.peek() !== undefined) analysis.value = made
      } catch (error) {
        notice.value = { tone: "bad", text: `The playground failed: ${(error as Error).message}` }
      }
    }
    running = false
    busy.value = false
  }
  effect(() => {
    next = texts.value
    if (next !== undefined && !running) void run()
  })
}
