import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import { note } from '../telemetry/spans.ts'
import type { ReconcileKey } from './controller.ts'
import type { Outcome } from './outcome.ts'

type Reconcile = (key: ReconcileKey, signal: AbortSignal) => Promise<Outcome>

/** What is known of a resource, before and after its reconcile. */
export interface ResourceFacts {
  readonly uid?: string | undefined
  /** Reason of the condition Ready. */
  readonly reason?: string | undefined
}

/** What spans of reconciles record besides their outcome. */
export interface ReconcileTracing {
  /** Undefined: nothing is traced. */
  readonly tracer: Tracer | undefined
  /** First word of the spans' names. Default `reconcile`. */
  readonly verb?: string
  readonly factsOf: (key: ReconcileKey) => ResourceFacts | undefined
}

/**
 * `reconcile` inside a span that is the root of a trace, since the change that caused it may be hours old. Without a
 * tracer, `reconcile` itself.
 */
export function tracedReconcile(
  { tracer, factsOf, verb = 'reconcile' }: ReconcileTracing,
  reconcile: Reconcile,
): Reconcile {
  if (tracer === undefined) return reconcile
  return async (key, signal) => {
    const attributes = identity(key, factsOf(key))
    return await tracer.startActiveSpan(`${verb} ${key.kind}`, { root: true, attributes }, async (span) => {
      try {
        const outcome = await reconcile(key, signal)
        recordOutcome(span, outcome, factsOf(key))
        return outcome
      } catch (error) {
        note(span, { attributes: { 'culvert.reconcile.outcome': 'backoff' }, error: codeOf(error) })
        throw error
      } finally {
        span.end()
      }
    })
  }
}

function identity({ kind, namespace, name }: ReconcileKey, facts: ResourceFacts | undefined): Attributes {
  return {
    'culvert.resource.kind': kind,
    'culvert.resource.name': name,
    ...(namespace === undefined ? {} : { 'k8s.namespace.name': namespace }),
    ...(facts?.uid === undefined ? {} : { 'culvert.resource.uid': facts.uid }),
  }
}

function recordOutcome(span: Span, outcome: Outcome, facts: ResourceFacts | undefined): void {
  const attributes: Attributes = {
    'culvert.reconcile.outcome': outcome.type,
    ...(outcome.type === 'after' ? { 'culvert.reconcile.reason': outcome.reason } : {}),
    ...(facts?.reason === undefined ? {} : { 'culvert.ready.reason': facts.reason }),
  }
  const failed = outcome.type === 'backoff' || outcome.type === 'terminal'
  note(span, { attributes, error: failed ? codeOf(outcome.error) : undefined })
}

/** Only the code of an error: its message may quote a server. */
function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'unexpected'
}
