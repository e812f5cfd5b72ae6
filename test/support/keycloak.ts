import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { freePort } from "./free-port.ts"
import { until } from "./until.ts"

/** The version of Keycloak that tests use. */
export const keycloakVersion = "26.4.0"
const artefact = join(
  homedir(),
  `.m2/repository/org/keycloak/keycloak-quarkus-dist/${keycloakVersion}/keycloak-quarkus-dist-${keycloakVersion}.zip`,
)

/** Why a real Keycloak cannot be had here; undefined when it can. */
export function missingKeycloak(): string | undefined {
  try {
    execFileSync("java", ["-version"], { stdio: "ignore" })
  } catch {
    return "Java is not installed"
  }
  if (existsSync(artefact)) return undefined
  try {
    const get = [
      "-q",
      "dependency:get",
      `-Dartifact=org.keycloak:keycloak-quarkus-dist:${keycloakVersion}:zip`,
      "-Dtransitive=false",
    ]
    execFileSync("mvn", get, { stdio: "ignore", timeout: 600_000 })
  } catch {
    return "the Keycloak distribution cannot be had by Maven"
  }
  return existsSync(artefact) ? undefined : "Maven left no Keycloak distribution"
}

/** For a hook that starts it. A hook that ended before the start would leave the process behind. */
export const keycloakStartMs = 1_800_000

/** Its administrator. */
export const keycloakAdmin = { name: "admin", password: "admin-password" }

/** Unpacks it into `folder` and starts it with a realm, about half a minute on an idle machine, nine at a load of 20. The caller kills its process group. */
export async function startKeycloak(
  folder: string,
  realm: { readonly realm: string },
): Promise<{ keycloak: ChildProcess; issuer: string }> {
  execFileSync("unzip", ["-q", artefact, "-d", folder])
  const home = join(folder, `keycloak-${keycloakVersion}`)
  mkdirSync(join(home, "data/import"), { recursive: true })
  writeFileSync(join(home, "data/import/realm.json"), JSON.stringify(realm))
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const keycloak = spawn(
    join(home, "bin/kc.sh"),
    ["start-dev", "--http-host", "127.0.0.1", "--http-port", String(port), "--import-realm"],
    {
      env: {
        ...process.env,
        KC_BOOTSTRAP_ADMIN_USERNAME: keycloakAdmin.name,
        KC_BOOTSTRAP_ADMIN_PASSWORD: keycloakAdmin.password,
      },
      stdio: "ignore",
      detached: true,
    },
  )
  try {
    // Its first start builds it, which takes minutes on a busy machine.
    const isServing = async () =>
      (await fetch(`${issuer}/realms/${realm.realm}/.well-known/openid-configuration`)).status === 200
    await until(isServing, 900_000)
  } catch (error) {
    if (keycloak.pid !== undefined) process.kill(-keycloak.pid, "SIGKILL")
    throw error
  }
  return { keycloak, issuer }
}
