import { useSignal } from "@preact/signals"
import type { IssuedAnswer } from "../../../api.ts"

/** New keys. No other response has them, so they are shown until the reader goes on. */
export function KeysOnce({ keys }: { readonly keys: IssuedAnswer["keys"] }) {
  const copied = useSignal("")
  const all = Object.entries(keys).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return (
    <div class="notice warn">
      <p class="strong">Copy now: nothing shows {all.length === 1 ? "this key" : "these keys"} again.</p>
      <dl class="facts">
        {all.map(([name, key]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{key}</code>{" "}
              <button
                type="button"
                onClick={() =>
                  void navigator.clipboard.writeText(key).then(
                    () => (copied.value = name),
                    () => (copied.value = ""),
                  )
                }
              >
                {copied.value === name ? "Copied" : "Copy"}
              </button>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
