import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * How much of each request the audit log records: once when it arrives and once, with the status of the answer, when it
 * has been served.
 */
export type AuditLevel = 'Metadata' | 'Request' | 'RequestResponse'

/** The files of one control plane. Only the owner can read its folder. */
export interface ControlPlaneFolder {
  readonly path: string
  readonly adminToken: string
  readonly controllerToken: string
  readonly tokenFile: string
  readonly serviceAccountKeyFile: string
  readonly serviceAccountPublicKeyFile: string
  readonly certificateFolder: string
  /** Written by the apiserver: its certificate and the CA that signed it. */
  readonly apiserverCertificateFile: string
  readonly etcdFolder: string
  /** A socket file, not a port: etcd needs no free port, and other users cannot reach it. */
  readonly etcdUrl: string
  readonly etcdPeerUrl: string
  readonly etcdSocket: string
  readonly auditPolicyFile: string
  readonly auditLogFile: string
  readonly adminKubeconfig: string
  readonly controllerKubeconfig: string
  readonly kubectlCacheFolder: string
}

/** The watchdog removes only folders with this file. */
const MARKER_FILE = '.culvert-controlplane'

/**
 * Creates a folder in the system's temporary folder with keys, tokens and the audit policy. It also contains the audit
 * log, unless `auditLogFile` gives another path.
 */
export async function createFolder(auditLevel: AuditLevel, auditLogFile?: string): Promise<ControlPlaneFolder> {
  const path = await mkdtemp(join(tmpdir(), 'culvert-cp-'))
  const standard = layout(path, randomBytes(24).toString('hex'), randomBytes(24).toString('hex'))
  const folder = auditLogFile === undefined ? standard : { ...standard, auditLogFile }
  const ownerOnly = { mode: 0o600 }
  const keys = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
  })
  await writeFile(join(path, MARKER_FILE), '')
  await mkdir(folder.certificateFolder)
  await Promise.all([
    writeFile(folder.tokenFile, tokenTable(folder), ownerOnly),
    writeFile(folder.serviceAccountKeyFile, keys.privateKey, ownerOnly),
    writeFile(folder.serviceAccountPublicKeyFile, keys.publicKey),
    writeFile(folder.auditPolicyFile, auditPolicy(auditLevel)),
  ])
  return folder
}

function layout(path: string, adminToken: string, controllerToken: string): ControlPlaneFolder {
  const certificateFolder = join(path, 'certificates')
  const etcdSocket = join(path, 'etcd.sock')
  return {
    path,
    adminToken,
    controllerToken,
    tokenFile: join(path, 'tokens.csv'),
    serviceAccountKeyFile: join(path, 'service-account.key'),
    serviceAccountPublicKeyFile: join(path, 'service-account.pub'),
    certificateFolder,
    apiserverCertificateFile: join(certificateFolder, 'apiserver.crt'),
    etcdFolder: join(path, 'etcd'),
    etcdUrl: `unix://${etcdSocket}`,
    etcdPeerUrl: `unix://${join(path, 'etcd-peer.sock')}`,
    etcdSocket,
    auditPolicyFile: join(path, 'audit-policy.json'),
    auditLogFile: join(path, 'audit.log'),
    adminKubeconfig: join(path, 'kubeconfig'),
    controllerKubeconfig: join(path, 'controller-manager.kubeconfig'),
    kubectlCacheFolder: join(path, 'kubectl-cache'),
  }
}

/** Token, user, uid, groups. The controllers have their own user, so that the audit log distinguishes them. */
function tokenTable(folder: ControlPlaneFolder): string {
  return [
    `${folder.adminToken},admin,admin,"system:masters"`,
    `${folder.controllerToken},system:kube-controller-manager,controllers,"system:masters"`,
    '',
  ].join('\n')
}

/** Omits the apiserver's requests to itself, and the first of the two events that each request would have. */
function auditPolicy(level: AuditLevel): string {
  return JSON.stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    // RequestReceived is the only stage recorded before a request's effects are visible.
    rules: [
      { level: 'None', users: ['system:apiserver'] },
      { level: 'None', nonResourceURLs: ['/readyz*', '/healthz*', '/livez*'] },
      // Their bodies contain secrets.
      { level: 'Metadata', resources: [{ group: '', resources: ['secrets', 'serviceaccounts/token'] }] },
      // What the operators of tests write is compared with what their policy describes.
      {
        level: level === 'Metadata' ? 'Request' : level,
        userGroups: ['system:serviceaccounts'],
        verbs: ['create', 'update', 'patch'],
      },
      { level },
    ],
  })
}

/** Writes the administrator's and the controllers' kubeconfig for a server whose CA is already known. */
export async function writeKubeconfigs(folder: ControlPlaneFolder, server: string, ca: Buffer): Promise<void> {
  const write = (file: string, user: string, token: string): Promise<void> =>
    writeFile(file, kubeconfig({ server, ca, user, token }), { mode: 0o600 })
  await write(folder.adminKubeconfig, 'admin', folder.adminToken)
  await write(folder.controllerKubeconfig, 'system:kube-controller-manager', folder.controllerToken)
}

interface KubeconfigParts {
  readonly server: string
  readonly ca: Buffer
  readonly user: string
  readonly token: string
}

/** A kubeconfig in JSON, which is YAML. */
export function kubeconfig({ server, ca, user, token }: KubeconfigParts): string {
  const name = 'culvert'
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': ca.toString('base64') } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name, context: { cluster: name, user, namespace: 'default' } }],
    'current-context': name,
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

/** Removes the folder and everything in it. */
export async function removeFolder(folder: ControlPlaneFolder): Promise<void> {
  await rm(folder.path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}
