import type { HttpClient } from "../http/client/http-client.ts"
import { ControlAccess } from "./control-access.ts"
import { ControlListeners } from "./control-listeners.ts"
import { type Edge, listenerTlsOf } from "./open-edge.ts"
import { verifierMaker } from "./open-gateway.ts"
import type { RuntimeSettings } from "./settings.ts"

/** The control listeners of plans; undefined in a process without that role. */
export function openControlListeners(
  { roles, env, cwd, log }: RuntimeSettings,
  { http, edge }: { readonly http: HttpClient; readonly edge: Edge },
): ControlListeners | undefined {
  if (!roles.includes("control")) return undefined
  const access = new ControlAccess({
    createVerifier: verifierMaker(log, http),
    ...listenerTlsOf(edge),
    environment: env,
    folder: cwd,
    onReload: (error) =>
      error === undefined
        ? log.info("files of the control listeners were reloaded")
        : log.error(
            { reason: error.message },
            "files of the control listeners could not be loaded; the previous ones stay in use",
          ),
  })
  return new ControlListeners(access, http, (error) =>
    log.warn({ err: error }, "closing a control listener failed"),
  )
}
