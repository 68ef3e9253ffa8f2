import { Command } from 'commander'
import { askCluster, clusterOptions } from './cluster/ask-cluster.ts'
import { duration, outputOption } from './flags.ts'
import { type ActionFlags, runSessionAction, type SessionAction } from './sessions/action.ts'
import { runSessions, type SessionsFlags } from './sessions/list.ts'

/** `culvert sessions`: agents that are connected. */
export function sessionsCommand(): Command {
  const update = actionCommand('update', {
    description: 'Have agents update themselves within their major version; the new code runs after a restart.',
    examples: ['culvert sessions update -l culvert.dev/os=linux --restart', 'culvert sessions update NAME --wait'],
  }).option('--restart', 'also restart them, at least 10 s after the update', false)
  return new Command('sessions')
    .description('List tunnel sessions (connected agents), and restart, stop or update their agents.')
    .addCommand(listCommand())
    .addCommand(
      actionCommand('restart', {
        description: 'Have agents replace their process; their sessions get new ids. Not supported on Windows.',
        examples: [
          'culvert sessions restart NAME -n web --wait',
          "culvert sessions restart -l 'culvert.dev/os!=windows'",
        ],
      }),
    )
    .addCommand(
      actionCommand('stop', {
        description: 'Have agents exit. Their hosts decide whether they are started again.',
        examples: ['culvert sessions stop NAME -n web', 'culvert sessions stop -l culvert.dev/region=eu --yes --wait'],
      }),
    )
    .addCommand(update)
}

function listCommand(): Command {
  return outputOption(clusterOptions(new Command('list')))
    .description('List the online tunnel sessions that accounts with mirrorSessions show as TunnelSessions.')
    .option('-A, --all-namespaces', 'list the sessions of all namespaces', false)
    .option('-l, --selector <labels>', 'only sessions with these labels, such as culvert.dev/os=linux')
    .addHelpText(
      'after',
      '\nExamples:\n  culvert sessions list -n web\n  culvert sessions list -l culvert.dev/os=linux\n',
    )
    .action((flags: SessionsFlags) => askCluster(flags, (cluster) => runSessions(cluster, flags)))
}

const NOTES = `
Creates a TunnelSessionCommand for each given session, or one per account for all sessions that the selector matches.
Each request is sent at most once. The result is kept in the status of the command for the time set with --ttl.

Exit codes: 0 sent, with --wait also done; 1 not sent, or with --wait not all done; 2 not finished within --timeout.`

function actionCommand(
  action: SessionAction,
  { description, examples }: { readonly description: string; readonly examples: readonly string[] },
): Command {
  return clusterOptions(new Command(action))
    .description(`${description} Shows the sessions and asks for confirmation.`)
    .argument('[session...]', 'names of sessions, their prefixes, or ids, as shown by culvert sessions list')
    .option('-l, --selector <labels>', 'all sessions of the namespace with these labels')
    .option('--yes', 'do not ask', false)
    .option('--ttl <time>', 'how long the result is kept', '1h')
    .option('--wait', 'show progress until the command has finished', false)
    .option('--timeout <time>', 'how long --wait waits for each command', duration, 120_000)
    .addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}${NOTES}`)
    .action((args: readonly string[], flags: ActionFlags) => {
      return askCluster(flags, (cluster) => runSessionAction(cluster, action, args, flags))
    })
}
