import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useId, useMemo } from "preact/hooks"
import { CallFailure, may, postText } from "../../client.ts"
import { storePath } from "../../engine.ts"
import { counted, sizeText } from "../../format.ts"
import { Badge, Empty, Failed, Field, Panel } from "../../parts/basic.tsx"
import { WindowList } from "../../parts/window-list.tsx"
import { type FileTuple, formatOfFile, tuplesOfFile } from "../../tuple-file.ts"
import type { AccessView } from "./view.ts"

/** Tuples of one request, all written or none. */
const batchMax = 1_000
const fileBytesMax = 64 * 1024 * 1024
/** After so many mistakes the import ends: the file is hardly the right one. */
const problemsMax = 1_000
/** Tuples that are read before the page may respond to something else. */
const readAtOnce = 5_000

interface Progress {
  readonly kind: "reading" | "writing" | "done" | "cancelled"
  readonly total: number
  /** Tuples that were handled. */
  readonly done: number
  readonly written: number
  readonly existing: number
  readonly problems: readonly { readonly line: number; readonly problem: string }[]
}

/** Writes the tuples of a file, in batches. Existing ones are no mistake, so that an import can be repeated. */
export default function Import({ store }: AccessView) {
  const progress = useSignal<Progress | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const file = useSignal<File | undefined>(undefined)
  const turn = useMemo(() => ({ isCancelled: false }), [])
  useEffect(
    () => () => {
      turn.isCancelled = true
    },
    [],
  )
  if (!may("operator", "engine.write")) return <Empty title="Your role may not change tuples" />
  const isBusy = progress.value?.kind === "reading" || progress.value?.kind === "writing"
  const begin = async () => {
    if (file.value === undefined) return
    turn.isCancelled = false
    error.value = undefined
    progress.value = { kind: "reading", total: 0, done: 0, written: 0, existing: 0, problems: [] }
    try {
      await importFile(store.id, file.value, progress, turn)
    } catch (reason) {
      error.value = reason
      const now = progress.peek()
      progress.value = now && now.done > 0 ? { ...now, kind: "cancelled" } : undefined
    }
  }
  return (
    <>
      <Panel title="Import tuples" aside="in batches; existing tuples are left as they are">
        <FileForm
          isBusy={isBusy}
          file={file.value}
          onFile={(next) => {
            file.value = next
            progress.value = undefined
            error.value = undefined
          }}
          onBegin={() => void begin()}
          onCancel={() => {
            turn.isCancelled = true
          }}
        />
      </Panel>
      {error.value !== undefined && <Failed error={error.value} />}
      {progress.value && <Shown progress={progress.value} />}
    </>
  )
}

function FileForm(props: {
  readonly isBusy: boolean
  readonly file: File | undefined
  readonly onFile: (file: File | undefined) => void
  readonly onBegin: () => void
  readonly onCancel: () => void
}) {
  const { isBusy, file, onFile, onBegin, onCancel } = props
  const id = useId()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onBegin()
      }}
    >
      <Field
        id={id}
        label="File"
        hint={
          <>
            JSON lines (.jsonl), a JSON list (.json), or CSV with the columns of OpenFGA's command line. For
            YAML and larger files use <code>sallyport tuple import</code>.
          </>
        }
      >
        <input
          id={id}
          type="file"
          required
          accept=".jsonl,.ndjson,.json,.csv"
          disabled={isBusy}
          onChange={({ currentTarget: { files } }) => onFile(files?.[0])}
        />
      </Field>
      <p class="actions">
        <button type="submit" class="primary" disabled={isBusy || file === undefined}>
          Import{file && ` ${sizeText(file.size)}`}
        </button>
        {isBusy && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </p>
    </form>
  )
}

function Shown({
  progress: { kind, total, done, written, existing, problems },
}: {
  readonly progress: Progress
}) {
  const words = {
    reading: "reading the file",
    writing: "writing",
    done: "done",
    cancelled: "stopped",
  } as const
  return (
    <Panel title="Progress">
      <p role="status">
        <Badge tone={kind === "done" ? "good" : kind === "cancelled" ? "warn" : "plain"}>{words[kind]}</Badge>{" "}
        {done.toLocaleString("en")} of {counted(total, "tuple")}: {written.toLocaleString("en")} written,{" "}
        {existing.toLocaleString("en")} existed already, {counted(problems.length, "mistake")}
      </p>
      <progress
        class="import-bar"
        aria-label="Part of the file that was handled"
        max={Math.max(1, total)}
        value={done}
      />
      {problems.length > 0 && (
        <WindowList
          label="Mistakes"
          columns={[
            { title: "Line", class: "narrow" },
            { title: "Mistake", class: "wide" },
          ]}
          count={problems.length}
          cells={(index) => [
            problems[index]?.line,
            <span key="problem" title={problems[index]?.problem}>
              {problems[index]?.problem}
            </span>,
          ]}
        />
      )}
    </Panel>
  )
}

interface Turn {
  isCancelled: boolean
}

async function importFile(
  store: string,
  file: File,
  progress: Signal<Progress | undefined>,
  turn: Turn,
): Promise<void> {
  const format = formatOfFile(file.name)
  if (format === undefined)
    throw new Error(
      `The format of ${file.name} is not known by its ending: .jsonl, .json or .csv is expected.`,
    )
  if (file.size > fileBytesMax)
    throw new Error(
      `The file is larger than ${sizeText(fileBytesMax)}. Use \`sallyport tuple import\`, which reads line by line.`,
    )
  const tuples: FileTuple[] = []
  for (const each of tuplesOfFile(await file.text(), format)) {
    tuples.push(each)
    if (tuples.length % readAtOnce === 0) await turnOfOthers()
  }
  const update = (change: Partial<Progress>) => {
    const now = progress.peek()
    if (now !== undefined) progress.value = { ...now, ...change }
  }
  update({ kind: "writing", total: tuples.length })
  for (let at = 0; at < tuples.length; at += batchMax) {
    if (turn.isCancelled) return update({ kind: "cancelled" })
    const found = await writeBatch(store, tuples.slice(at, at + batchMax))
    const now = progress.peek()
    if (now === undefined) return
    const problems = [...now.problems, ...found.problems]
    update({
      done: Math.min(tuples.length, at + batchMax),
      ...{ written: now.written + found.written, existing: now.existing + found.existing, problems },
    })
    if (problems.length >= problemsMax)
      throw new Error(
        `The import ended after ${counted(problems.length, "mistake")}. What was written stays.`,
      )
  }
  update({ kind: "done" })
}

/** Writes a batch without the tuples that the engine refuses: it names the first wrong line of each attempt. */
async function writeBatch(store: string, batch: readonly FileTuple[]) {
  const problems = batch.flatMap((each) => ("problem" in each ? [each] : []))
  let left = batch.flatMap((each) => ("tuple" in each ? [each] : []))
  while (left.length > 0)
    try {
      const text = left.map(({ tuple }) => JSON.stringify(tuple)).join("\n")
      const { written, existing } = await postText<{ readonly written: number; readonly existing: number }>(
        storePath(store, "bulk-write"),
        text,
      )
      return { written, existing, problems }
    } catch (error) {
      const [, line, reason = ""] =
        /^line (\d+): (.*)$/s.exec(error instanceof CallFailure ? error.message : "") ?? []
      const wrong = left[Number(line) - 1]
      if (wrong === undefined || problems.length >= problemsMax) throw error
      problems.push({ line: wrong.line, problem: reason })
      left = left.filter((each) => each !== wrong)
    }
  return { written: 0, existing: 0, problems }
}

const turnOfOthers = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))
