import type { ControlPlaneFolder } from './folder.ts'

/**
 * The controllers that objects need to behave as usual: namespaces are emptied, dependents are deleted with their
 * owners, and each namespace has its default ServiceAccount and CA bundle.
 */
export const DEFAULT_CONTROLLERS: readonly string[] = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'root-ca-certificate-publisher-controller',
]

/** etcd requires URLs to advertise to other members. There are none: nothing listens there, and nothing connects. */
const UNUSED_CLIENT_URL = 'http://127.0.0.1:2379'
const UNUSED_PEER_URL = 'http://127.0.0.1:2380'

/** Flags of etcd: one member, without durability across a power failure. */
export function etcdArguments(folder: ControlPlaneFolder): string[] {
  return [
    '--name=culvert',
    `--data-dir=${folder.etcdFolder}`,
    `--listen-client-urls=${folder.etcdUrl}`,
    `--advertise-client-urls=${UNUSED_CLIENT_URL}`,
    `--listen-peer-urls=${folder.etcdPeerUrl}`,
    `--initial-advertise-peer-urls=${UNUSED_PEER_URL}`,
    `--initial-cluster=culvert=${UNUSED_PEER_URL}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ]
}

/** The variable flags of the apiserver. */
export interface ApiserverSettings {
  readonly port: number
  readonly auditLog: boolean
}

/**
 * Flags of kube-apiserver. Limits on requests in flight, priority and fairness, and the watch cache keep their
 * defaults, so that clients see the usual behaviour.
 */
export function apiserverArguments(folder: ControlPlaneFolder, settings: ApiserverSettings): string[] {
  return [
    `--etcd-servers=${folder.etcdUrl}`,
    '--bind-address=127.0.0.1',
    // Explicit, because a machine without a default route has no address to detect.
    '--advertise-address=127.0.0.1',
    `--secure-port=${settings.port}`,
    `--cert-dir=${folder.certificateFolder}`,
    '--authorization-mode=RBAC',
    // As in OpenShift: a client that makes an object the dependent of another must be allowed to delete it.
    '--enable-admission-plugins=OwnerReferencesPermissionEnforcement',
    `--token-auth-file=${folder.tokenFile}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${folder.serviceAccountPublicKeyFile}`,
    `--service-account-signing-key-file=${folder.serviceAccountKeyFile}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    // No Pods reach the server through its Service; this saves a write every ten seconds.
    '--endpoint-reconciler-type=none',
    '--profiling=false',
    '--allow-privileged=true',
    ...(settings.auditLog ? auditArguments(folder) : []),
  ]
}

/** Blocking, so that a request's event is in the file before its response is sent; never rotated. */
function auditArguments(folder: ControlPlaneFolder): string[] {
  return [
    `--audit-policy-file=${folder.auditPolicyFile}`,
    `--audit-log-path=${folder.auditLogFile}`,
    '--audit-log-mode=blocking',
    '--audit-log-maxsize=100000',
  ]
}

/** Flags of `controllers/main.go`. */
export function controllersArguments(folder: ControlPlaneFolder, controllers: readonly string[]): string[] {
  return [
    `--kubeconfig=${folder.controllerKubeconfig}`,
    `--controllers=${controllers.join(',')}`,
    `--root-ca-file=${folder.apiserverCertificateFile}`,
    `--service-account-private-key-file=${folder.serviceAccountKeyFile}`,
  ]
}
