/**
 * Every `reason` of a condition. A reason is for programs and stays; the message beside it is for people.
 */
export const reasons = {
  /** The remote object equals the spec and works. */
  Available: 'Available',
  /** The remote object equals the spec. */
  InSync: 'InSync',
  /** Work is under way; nothing is wrong. */
  Progressing: 'Progressing',
  /** The CR is being deleted; the message names what it waits for. */
  Deleting: 'Deleting',
  /** `culvert.dev/paused` is set: Culvert looks away. */
  Paused: 'Paused',
  /** A create was sent and its answer got lost; Culvert is finding out whether the object exists. */
  CreateUnresolved: 'CreateUnresolved',
  /** A referenced resource does not exist or is not usable yet. */
  ReferenceNotReady: 'ReferenceNotReady',
  /** A referenced resource does not take what refers to it; the message says why. */
  ReferenceRefused: 'ReferenceRefused',
  /**
   * The spec uses an object or a resource that the namespace may not use: by the id of what a resource of another namespace has, or of what nobody has in an account that does
   * not allow it; the message names field, value and remedy.
   */
  ReferenceNotPermitted: 'ReferenceNotPermitted',
  /** A reference between namespaces is in use whose grant was withdrawn: it is kept until the spec with it changes. */
  GrantWithdrawn: 'GrantWithdrawn',
  /** The object has parts that neither its spec declares nor a resource that may: they are in force, and nothing is deleted for it. */
  Undeclared: 'Undeclared',
  /** References form a cycle. */
  ReferenceCycle: 'ReferenceCycle',
  /** A Secret, or the key in it, does not exist. */
  SecretMissing: 'SecretMissing',
  /** A ConfigMap, or the key in it, does not exist. */
  ConfigMapMissing: 'ConfigMapMissing',
  /** The Secret or ConfigMap that outputs should go into belongs to somebody else. */
  OutputNotOwned: 'OutputNotOwned',
  /** There is nothing that would have to be put there. */
  NotNeeded: 'NotNeeded',
  /** The type of an object that the spec asks for is not installed in the cluster. */
  CRDNotInstalled: 'CRDNotInstalled',
  /** The administrator does not allow the DNSEndpoint that the spec asks for, and none was made. */
  DNSEndpointNotAllowed: 'DNSEndpointNotAllowed',
  /** The administrator does not allow a DNSEndpoint that was made before: it stays as it is. */
  DNSEndpointKept: 'DNSEndpointKept',
  /** The token in the Secret is lost or altered, and was issued anew too often lately. */
  TokenAltered: 'TokenAltered',
  /** The Account does not exist or is not Ready. */
  AccountNotReady: 'AccountNotReady',
  /** No entry of the ClusterAccount's `access` selects this namespace. */
  AccountNotAllowed: 'AccountNotAllowed',
  /** The entries that do allow other kinds. */
  KindNotAllowed: 'KindNotAllowed',
  /** The spec takes a domain that the ClusterAccount's `access` does not give the namespace. */
  DomainNotAllowed: 'DomainNotAllowed',
  /** The spec takes labels of tunnels that the ClusterAccount's `access` does not give the namespace. */
  LabelNotAllowed: 'LabelNotAllowed',
  /** A value in the spec cannot work; the message names the field. */
  InvalidSpec: 'InvalidSpec',
  /** A value from a Secret or ConfigMap cannot work; the message names the field. */
  InvalidInput: 'InvalidInput',
  /** The API refused the request for good. */
  Rejected: 'Rejected',
  /** The API refused because a unique name is taken or the object is in use. */
  Conflict: 'Conflict',
  /** The API holds an object that this CR may have owned before; it is not taken without being asked for. */
  AlreadyExists: 'AlreadyExists',
  /**
   * The object bears the mark of another life of this CR, as when two clusters work with one installation id, or of another CR; or somebody
   * else changes it back each time it is put right.
   */
  TakenOver: 'TakenOver',
  /** The object is only looked at; the message says in what it differs. */
  Observed: 'Observed',
  /** The object that `spec.externalID` names cannot be taken. */
  NotAdoptable: 'NotAdoptable',
  /** The object is not at the API any more: one that was adopted or is observed, or that is to be made again later. */
  RemoteMissing: 'RemoteMissing',
  /** A call failed in a way that may pass; it is tried again. */
  ApiError: 'ApiError',
  /** Kubernetes refused or failed a call. */
  KubernetesError: 'KubernetesError',
  /** An error inside Culvert; its log has the details. */
  OperatorError: 'OperatorError',
  /** A certificate is being provisioned. */
  CertificatePending: 'CertificatePending',
  /** A certificate cannot be issued until DNS records are made. */
  DNSError: 'DNSError',
  /** The service had an internal error while issuing; it tries again by itself. */
  InternalError: 'InternalError',
  /** A certificate is in place. */
  CertificateIssued: 'CertificateIssued',
  /** The certificate in use still works, but its successor cannot be issued. */
  RenewalFailing: 'RenewalFailing',
  /** The next certificate will be issued before the one in use expires. */
  RenewalScheduled: 'RenewalScheduled',
  /** The token in use still works, but its successor cannot be issued. */
  RotationFailing: 'RotationFailing',
  /** The next token will be issued when its time has come. */
  RotationScheduled: 'RotationScheduled',
  /** A token was asked for while a former one is still within its overlap. */
  RotationWaiting: 'RotationWaiting',
  /** No certificate is managed for this resource. */
  CertificateNotManaged: 'CertificateNotManaged',
  /** A certificate is no longer valid. */
  Expired: 'Expired',
  /** A certificate whose validity begins later. */
  NotYetValid: 'NotYetValid',
  /** The API refused the key. */
  Unauthorized: 'Unauthorized',
  /** The API does not answer. */
  Unreachable: 'Unreachable',
  /** The base URL is not one that the administrator allows. */
  BaseURLNotAllowed: 'BaseURLNotAllowed',
  /** The key may belong to another account: nothing is created or deleted until that is settled. */
  IdentityUnproven: 'IdentityUnproven',
  /** A command is under way. */
  CommandRunning: 'CommandRunning',
  /** Everything that a command was to do is done. */
  AllDone: 'AllDone',
  /** A command is over, and something of it is not done: the status says what. */
  SomeNotDone: 'SomeNotDone',
  /** A command means nobody. */
  NoTarget: 'NoTarget',
  /** A command means more than it can be sent to. */
  TooManyTargets: 'TooManyTargets',
} as const

export type Reason = (typeof reasons)[keyof typeof reasons]
