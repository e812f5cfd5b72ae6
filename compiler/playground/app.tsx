import { effect, signal } from "@preact/signals"
import { render } from "preact"
import { Bench } from "./bench.tsx"
import { textsOfDrop, textsOfInput } from "./folder.ts"
import { examples, followFragment, followTexts, loadExamples, notice, open, texts } from "./project.ts"

const dragging = signal(false)

function App() {
  return (
    <>
      {notice.value && (
        <div class={`notice top ${notice.value.tone}`} role="status">
          <span>{notice.value.text}</span>
          <button type="button" onClick={() => (notice.value = undefined)}>
            Close
          </button>
        </div>
      )}
      {texts.value === undefined ? <Start /> : <Bench />}
      {dragging.value && <p class="dropping">Drop a folder or files to open them</p>}
    </>
  )
}

function Start() {
  return (
    <main class="start">
      <h1>Sallyport playground</h1>
      <p>
        Write a model of permissions, add tuples, and ask who may do what, with the proof of each answer. The
        compiler and the engine run in this page: nothing is sent to a server.
      </p>
      <section aria-labelledby="examples">
        <h2 id="examples">Examples</h2>
        <ul class="cards">
          {examples.value.map(({ name, title, texts: given }) => (
            <li key={name}>
              <button type="button" onClick={() => open(given)}>
                <strong>{name}</strong>
                <span class="quiet">{title}</span>
              </button>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="own">
        <h2 id="own">Your own project</h2>
        <p class="quiet">
          A folder with a model, a gateway.conf, or an OpenFGA store file. You can also drop it anywhere on
          this page.
        </p>
        <div class="row">
          <FolderInput />
          <button type="button" onClick={() => open({ "model.fga": newModel })}>
            New model
          </button>
        </div>
      </section>
    </main>
  )
}

const newModel = `model
  schema 1.1

type user

type document
  relations
    define owner: [user]
    define viewer: [user] or owner
`

function FolderInput() {
  const choose = (event: { currentTarget: HTMLInputElement }) => {
    const { files } = event.currentTarget
    if (files !== null) void opened(textsOfInput(files))
  }
  return (
    <>
      <label class="file">
        Open folder
        <input
          type="file"
          multiple
          ref={(element) => element?.setAttribute("webkitdirectory", "")}
          onChange={choose}
        />
      </label>
      <label class="file">
        Open files
        <input type="file" multiple onChange={choose} />
      </label>
    </>
  )
}

async function opened(given: Promise<Parameters<typeof open>[0]>): Promise<void> {
  try {
    open(await given)
    notice.value = undefined
  } catch (error) {
    notice.value = { tone: "bad", text: `Nothing was opened: ${(error as Error).message}.` }
  }
}

function acceptDrops(): void {
  addEventListener("dragover", (event) => {
    event.preventDefault()
    dragging.value = true
  })
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) dragging.value = false
  })
  addEventListener("drop", (event) => {
    event.preventDefault()
    dragging.value = false
    if (event.dataTransfer !== null) void opened(textsOfDrop(event.dataTransfer.items))
  })
}

const root = document.getElementById("app")
if (root !== null) {
  acceptDrops()
  followTexts()
  effect(() => {
    document.title = texts.value === undefined ? "Sallyport playground" : "Project – Sallyport playground"
  })
  render(<App />, root)
  void loadExamples().then(followFragment)
  addEventListener("hashchange", () => void followFragment())
}
