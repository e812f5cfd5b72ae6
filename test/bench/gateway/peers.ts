import { execFileSync, spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { type Running, runningOf, type Settings } from "./servers.ts"

/** Another proxy, with one worker. */
export interface Peer<Given extends Settings = Settings> {
  readonly name: string
  readonly configuration: (settings: Given) => string
  /** How it is started with its configuration in this file. */
  readonly command: (file: string, settings: Given) => readonly [string, ...string[]]
}

const nginx: Peer = {
  name: "nginx",
  configuration: ({ port, backendPort, folder }) => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/nginx-body;
  proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi;
  uwsgi_temp_path ${folder}/nginx-uwsgi;
  scgi_temp_path ${folder}/nginx-scgi;
  keepalive_requests 1000000000;
  upstream backend { server 127.0.0.1:${backendPort}; keepalive 64; keepalive_requests 1000000000; }
  map $http_x_api_key $subscription { default ""; "secret-key" "ci"; }
  limit_req_zone $subscription zone=subscriptions:1m rate=1000000r/s;
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  server {
    listen 127.0.0.1:${port};
    location /plain/ { proxy_pass http://backend/; }
    location /limited/ {
      if ($subscription = "") { return 401; }
      limit_req zone=subscriptions burst=100000 nodelay;
      limit_req_status 429;
      proxy_set_header Connection "";
      proxy_set_header X-API-Key "";
      proxy_set_header X-User-Id $subscription;
      add_header X-Gateway edge;
      proxy_pass http://backend/;
    }
  }
}
`,
  command: (file) => ["nginx", "-c", file],
}

const haproxy: Peer = {
  name: "HAProxy",
  configuration: ({ port, backendPort }) => `
global
  nbthread 1
  maxconn 2048
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend gateway
  bind 127.0.0.1:${port}
  stick-table type string len 64 size 10k expire 60s store http_req_rate(60s)
  acl limited path_beg /limited/
  http-request deny deny_status 401 if limited !{ req.hdr(x-api-key) -m str secret-key }
  http-request track-sc0 req.hdr(x-api-key) if limited
  http-request deny deny_status 429 if limited { sc_http_req_rate(0) gt 1000000000 }
  http-request set-var(txn.limited) bool(true) if limited
  http-request del-header x-api-key if limited
  http-request set-header X-User-Id ci if limited
  http-request replace-path /[^/]*/(.*) /\\1
  http-response set-header X-Gateway edge if { var(txn.limited) -m bool }
  default_backend main
backend main
  server one 127.0.0.1:${backendPort}
`,
  command: (file) => ["haproxy", "-f", file],
}

/** Of Debian, doing what the scenarios `plain` and `limited` ask. */
export const plainPeers: readonly Peer[] = [nginx, haproxy]

/** Starts those that are installed; tells which are not. */
export async function startPeers<Given extends Settings>(
  peers: readonly Peer<Given>[],
  settingsFor: () => Promise<Given>,
): Promise<{ readonly running: ReadonlyMap<string, Running>; readonly missing: readonly string[] }> {
  const running = new Map<string, Running>()
  const missing: string[] = []
  for (const peer of peers) {
    const settings = await settingsFor()
    const file = join(settings.folder, `${peer.name}.conf`)
    writeFileSync(file, peer.configuration(settings))
    const [program, ...args] = peer.command(file, settings)
    if (isInstalled(program)) {
      const child = spawn(program, args, { stdio: ["ignore", 2, 2], env: searchingEnv })
      running.set(peer.name, runningOf(child, settings.port))
      await reachable(settings.port)
    } else missing.push(`${peer.name}: \`${program}\` is not installed`)
  }
  return { running, missing }
}

function isInstalled(program: string): boolean {
  try {
    execFileSync("which", [program], { stdio: "ignore", env: searchingEnv })
    return true
  } catch {
    return false
  }
}

/** Debian and Go keep servers where users' shells may not look. A server of Go uses one processor, as the others do. */
const searchingEnv = {
  ...process.env,
  PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin:${process.env["HOME"] ?? ""}/go/bin`,
  GOMAXPROCS: "1",
}

async function reachable(port: number): Promise<void> {
  for (let tries = 100; tries > 0; tries -= 1) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1")
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
      socket.once("connect", () => socket.destroy())
    })
    if (open) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing listens on port ${port}`)
}
