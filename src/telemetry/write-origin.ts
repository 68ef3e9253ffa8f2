/** Why Culvert writes to the management API. A closed set: what reads audit records and spans may rely on it. */
export const writeReasons = {
  /** A resource is new, or its spec has changed. */
  spec: 'spec',
  /** What stands behind a reference, a Secret or a ConfigMap that the spec names has changed. */
  dependency: 'dependency',
  /** The object was changed or deleted at the API, and is put back. */
  drift: 'drift',
  /** A field that is fixed at create has changed: another object takes the place of the present one. */
  replacement: 'replacement',
  /** A token gives way to a new one in its turn, or on request. */
  rotation: 'rotation',
  /** A certificate gives way to a new one before it expires. */
  renewal: 'renewal',
  /** The token that was issued is lost or altered: another is issued. */
  reissue: 'reissue',
  /** An object that was replaced goes, since nobody uses it any more. */
  superseded: 'superseded',
  /** The resource is being deleted. */
  deletion: 'deletion',
  /** A second object of the same resource goes: a copy, what stood in for a while, or one whose token nobody was told. */
  copy: 'copy',
  /** An object that Culvert did not make is made to match the spec for the first time. */
  adoption: 'adoption',
  /** An earlier create was not carried out or its answer got lost, or a resource has come back without its status. */
  recovery: 'recovery',
  /** A command of a person to a tunnel session. */
  command: 'command',
} as const

export type WriteReason = (typeof writeReasons)[keyof typeof writeReasons]

/** The custom resource that a request to the API is made for. */
export interface OriginResource {
  readonly kind: string
  /** Undefined in the cluster's scope. */
  readonly namespace?: string | undefined
  readonly name: string
  readonly uid: string
}

/** For whom and why a request is made that changes something at the API. */
export interface WriteOrigin {
  readonly resource: OriginResource
  readonly reason: WriteReason
}
