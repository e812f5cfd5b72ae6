import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { EngineStore } from "../engine.ts"
import { type EngineModel, loadStore, loadText, loadVersions, versionName } from "../model-api.ts"
import { Empty, Failed, Loading, PageHead } from "../parts/basic.tsx"
import { addressOf, place, setQuery } from "../router.ts"
import { ModelView } from "./model-view.tsx"

interface Found {
  readonly store: EngineStore
  readonly versions: readonly EngineModel[]
  /** Token of the older versions; empty: all are here. */
  readonly next: string
}

/** The model of one store: a version as text and as a drawing, its assertions, and what another version decides differently. */
export default function ModelPage({ store: name }: { readonly store: string }) {
  const found = useSignal<Found | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const failed = (reason: unknown) => {
    error.value = reason
  }
  const load = () => {
    error.value = undefined
    Promise.all([loadStore(name), loadVersions(name, "")]).then(([store, { items, next }]) => {
      found.value = { store, versions: items, next }
    }, failed)
  }
  const loadOlder = () => {
    const known = found.peek()
    if (known === undefined) return
    loadVersions(name, known.next).then(({ items, next }) => {
      found.value = { ...known, versions: [...known.versions, ...items], next }
    }, failed)
  }
  useEffect(load, [name])
  const known = found.value
  const chosen = place.value.query.get("version") ?? known?.versions[0]?.id
  return (
    <>
      <p class="crumbs">
        <a href={addressOf(["model"])}>Stores</a>
      </p>
      <PageHead
        title={known?.store.name ?? name}
        about={known && <code>{known.store.id}</code>}
        actions={
          known &&
          known.versions.length > 0 && (
            <>
              <Versions known={known} chosen={chosen} />
              {known.next !== "" && (
                <button type="button" onClick={loadOlder}>
                  Older versions
                </button>
              )}
            </>
          )
        }
      />
      {error.value !== undefined && <Failed error={error.value} retry={load} />}
      {known === undefined ? (
        error.value === undefined && <Loading />
      ) : chosen === undefined ? (
        <Empty title="The store has no model yet">
          A plan or <code>POST /stores/{"{store}"}/authorization-models</code> writes one.
        </Empty>
      ) : (
        <Version key={chosen} store={known.store.id} version={chosen} versions={known.versions} />
      )}
    </>
  )
}

function Versions({ known, chosen }: { readonly known: Found; readonly chosen: string | undefined }) {
  return (
    <label class="inline-field">
      <span>Version</span>
      <select
        onChange={({ currentTarget: { value } }) =>
          setQuery({ version: value === known.versions[0]?.id ? undefined : value })
        }
      >
        {known.versions.map(({ id }, at) => (
          <option key={id} value={id} selected={id === chosen}>
            {versionName(id, at)}
          </option>
        ))}
      </select>
    </label>
  )
}

function Version(props: {
  readonly store: string
  readonly version: string
  readonly versions: readonly EngineModel[]
}) {
  const { store, version, versions } = props
  const text = useSignal<{ readonly path: string; readonly text: string } | undefined>(undefined)
  const error = useSignal<unknown>(undefined)
  const load = () => {
    error.value = undefined
    loadText(store, version).then(
      (loaded) => {
        text.value = loaded
      },
      (reason: unknown) => {
        error.value = reason
      },
    )
  }
  useEffect(load, [store, version])
  if (error.value !== undefined) return <Failed error={error.value} retry={load} />
  if (text.value === undefined) return <Loading />
  return <ModelView {...{ store, version, versions }} path={text.value.path} stored={text.value.text} />
}
