import { effect } from "@preact/signals"
import { render } from "preact"
import { keepSession, loadWho, signIn, who } from "./client.ts"
import { follow } from "./events.ts"
import { followLinks, go } from "./router.ts"
import { Shell } from "./shell.tsx"
import { loginFailureText, SignIn, startError } from "./sign-in.tsx"

function App() {
  const me = who.value
  if (me === undefined && startError.value === undefined) return <p class="starting">Sallyport …</p>
  return me ? <Shell me={me} /> : <SignIn />
}

/** Signs in by the code of a link, if the address has one. The code never reaches a server's log: it is in the fragment. `failed`: a login at an issuer that failed. */
async function start(): Promise<void> {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const code = fragment.get("code")
  const failed = fragment.get("failed")
  if (code !== null || failed !== null) go(location.pathname + location.search, true)
  if (failed !== null) startError.value = loginFailureText(failed)
  try {
    if (code === null) await loadWho()
    else await signIn({ code })
  } catch (error) {
    startError.value = (error as Error).message
    // Somebody who opens a used link again may still be signed in.
    if (code !== null) await loadWho().catch(() => undefined)
    if (who.peek()) startError.value = undefined
  }
}

const root = document.getElementById("app")
if (root !== null) {
  followLinks(root)
  keepSession()
  effect(() => {
    void who.value
    follow()
  })
  void start()
  render(<App />, root)
}
