import type { Static, TObject, TProperties } from 'typebox'
import type { Rule } from './rules.ts'

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** `.status.id`, or `.status.conditions[?(@.type=="Ready")].status`. */
  readonly jsonPath: string
  readonly description: string
  /** 0 (default): always; 1: with `-o wide`. */
  readonly priority?: 0 | 1
}

/** A condition type that resources of a kind can have besides the common ones: for its page and its Events. */
export interface ConditionDoc {
  readonly type: string
  readonly description: string
  /** Either status is normal, so no Event warns of it. Default: false. */
  readonly informational?: boolean
}

/** A kind, as the basis of CRD, validator and documentation. */
export interface KindDefinition<Spec extends TProperties = TProperties, Status extends TProperties = TProperties> {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly singular: string
  /**
   * A well-known project with a kind of the same plural, which makes `kubectl get <plural>` ambiguous; for the page.
   */
  readonly pluralSharedWith?: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  /** The purpose of the kind; shown at the top of `kubectl explain` and of its page. */
  readonly description: string
  readonly spec: TObject<Spec>
  readonly status: TObject<Status>
  /** Whether a resource without `spec` is refused. Default: true. */
  readonly specRequired?: boolean
  /** CEL over the whole resource: `self.spec`, `self.metadata.name`. Also evaluated on status writes. */
  readonly rootRules?: readonly Rule[]
  readonly printerColumns: readonly PrinterColumn[]
  /** Path of the addresses in the status, a text or a list, by which clients reach what the object serves. */
  readonly addressPath?: string
  /** Paths of texts, numbers or booleans that `kubectl get --field-selector` accepts, such as `.status.id`. */
  readonly selectableFields?: readonly string[]
  /**
   * The subresource `scale`: fields with the number wanted and the number there is, and the label selector of the Pods.
   * Default: none.
   */
  readonly scale?: { readonly specReplicas: string; readonly statusReplicas: string; readonly labelSelector: string }
  /**
   * The condition types that `Readiness.conditions` of the kind, or a feature, may set besides the common ones. Those of
   * features are in src/managed/descriptor/readiness.ts.
   */
  readonly conditions?: readonly ConditionDoc[]
  /** Paths below spec whose change replaces the remote object, such as `publicKey`; for the page. */
  readonly replacing?: readonly string[]
  /** Markdown for the kind's page, shown after the example. */
  readonly notes?: string
}

/** Returns `definition`, keeping the types of its spec and status: `SpecOf<typeof edge>`. */
export function defineKind<Spec extends TProperties, Status extends TProperties>(
  definition: KindDefinition<Spec, Status>,
): KindDefinition<Spec, Status> {
  return definition
}

/** The static type of a definition's spec. */
export type SpecOf<Definition extends { readonly spec: TObject }> = Static<Definition['spec']>

/** The static type of a definition's status. */
export type StatusOf<Definition extends { readonly status: TObject }> = Static<Definition['status']>

const mark = '(experimental)'

/** A description marked at its end as experimental: the feature may still change or be removed (docs/versioning.md). */
export function experimental(description: string): string {
  return `${description} ${mark}`
}

/** Whether a description has that mark. */
export function isExperimental(description: string | undefined): boolean {
  return description?.endsWith(mark) ?? false
}
