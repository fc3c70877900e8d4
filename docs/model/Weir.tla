-------------------------------- MODULE Weir --------------------------------
(***************************************************************************)
(* The order of steps that makes Weir exact: accept, publish, deliver,     *)
(* store, acknowledge, purge, erase, expire, back up, restore. README.md   *)
(* says what is left out, and which line of the code each guard stands     *)
(* for. A guard is a constant: with FALSE the code without that line.      *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Streams,       \* one on a single nats-server, two on three of them
  Carried,       \* request -> the ids of its events
  PublishesMax, CrashesMax, RestoresMax, ErasuresMax, ExpiriesMax, RevocationsMax, EarlyPurgesMax,
  HasReader,     \* whether a live stream reads

  \* Guards, in the order of the data's way.
  SyncBeforeAck, AckAfterCommit, Ledger, KeepLedger, OneStatement, SeparateKnown, LockedNumber,
  PurgeStoredOnly, Window, LoggedClock, EraseWaits, MarkEveryStream,
  AnswerAfterControl, ControlFirst, FreshWriters, ResetConsumer, FloorOfDatabase, NewNumbers, CheckPosition, NameGap

Requests == DOMAIN Carried
Events == UNION {Carried[r] : r \in Requests}
Target == CHOOSE e \in Events : \A r \in Requests : e \in Carried[r]    \* what is erased

VARIABLES
  \* Clients and ingest
  accepted,      \* requests answered with 202
  waiting,       \* request -> the stream whose sync its answer waits for, or "none"
  publishes,     \* number of publishes so far

  \* JetStream
  queue,         \* stream -> sequence of requests, never shortened by a purge
  synced,        \* stream -> length that a crash keeps
  purged,        \* stream -> length that was purged
  acked,         \* stream -> acknowledged sequence numbers
  control,       \* changes in the control stream

  \* Writers
  prepared,      \* only without LockedNumber or OneStatement: <<message, number, new ids>> before the COMMIT
  late,          \* only without FreshWriters: messages that an old writer may still acknowledge

  \* Postgres
  db,            \* [ledger, rows, texts, bill, last, commits, revoked]
  backup,        \* [database, outbox, floor, arrived], or << >>
  outbox,        \* changes that are not in the control stream yet
  serving,       \* FALSE between the restore of the database and the end of its repair
  gap,           \* requests that a restore has named as lost

  \* An erasure, a revocation, a live stream
  erasure,       \* [state, marks, covered]
  answered,      \* changes that were answered as done
  reader,        \* [number, segment, seen, told]
  budget         \* what may still happen

vars == <<accepted, waiting, publishes, queue, synced, purged, acked, control, prepared, late, db, backup,
          outbox, serving, gap, erasure, answered, reader, budget>>

ingest == <<accepted, waiting, publishes>>
jetstream == <<queue, synced, purged, acked>>
writers == <<prepared, late>>
rest == <<erasure, answered, reader>>

None == << >>
Max(S) == CHOOSE n \in S : \A m \in S : m <= n
AckFloor(s) == Max({n \in 0..Len(queue[s]) : 1..n \subseteq acked[s]})
Spend(what) == budget[what] > 0 /\ budget' = [budget EXCEPT ![what] = @ - 1]

EmptyDb == [ledger |-> {}, rows |-> {}, texts |-> {}, bill |-> [e \in Events |-> 0], last |-> 0, commits |-> {},
            revoked |-> FALSE]

Init ==
  /\ accepted = {} /\ waiting = [r \in Requests |-> "none"] /\ publishes = 0
  /\ queue = [s \in Streams |-> << >>] /\ synced = [s \in Streams |-> 0]
  /\ purged = [s \in Streams |-> 0] /\ acked = [s \in Streams |-> {}] /\ control = {}
  /\ prepared = {} /\ late = {}
  /\ db = EmptyDb /\ backup = None /\ outbox = {} /\ serving = TRUE /\ gap = {}
  /\ erasure = [state |-> "none", marks |-> None, covered |-> FALSE]
  /\ answered = {}
  /\ reader = [number |-> 0, segment |-> None, seen |-> [e \in Events |-> 0], told |-> FALSE]
  /\ budget = [crash |-> CrashesMax, restore |-> RestoresMax, erase |-> ErasuresMax, expire |-> ExpiriesMax,
               revoke |-> RevocationsMax, purgeEarly |-> EarlyPurgesMax]

-----------------------------------------------------------------------------
(* Ingest. A retry of the client and a failover to the other stream are    *)
(* both a publish of the same request; whether an earlier one arrived is   *)
(* not known then. An answer comes with the sync that it waits for: one    *)
(* that comes later only promises the same for fewer states.               *)

Publish(r, s) ==
  /\ publishes < PublishesMax
  /\ publishes' = publishes + 1
  /\ queue' = [queue EXCEPT ![s] = Append(@, r)]
  \* Without power cuts nobody can tell when it is synced: that leaves states out.
  /\ IF CrashesMax > 0
     THEN waiting' = [waiting EXCEPT ![r] = s] /\ UNCHANGED <<accepted, synced>>
     ELSE accepted' = accepted \union {r} /\ synced' = [synced EXCEPT ![s] = Len(queue'[s])] /\ UNCHANGED waiting
  /\ UNCHANGED <<purged, acked, control, writers, db, backup, outbox, serving, gap, rest, budget>>

Sync(s) ==
  /\ synced[s] < Len(queue[s])
  /\ synced' = [synced EXCEPT ![s] = Len(queue[s])]
  /\ accepted' = accepted \union {r \in Requests : waiting[r] = s}
  /\ waiting' = [r \in Requests |-> IF waiting[r] = s THEN "none" ELSE waiting[r]]
  /\ UNCHANGED <<publishes, queue, purged, acked, control, writers, db, backup, outbox, serving, gap, rest, budget>>

(* Without SyncBeforeAck.                                                  *)
AnswerEarly(r) ==
  /\ ~SyncBeforeAck /\ waiting[r] # "none"
  /\ accepted' = accepted \union {r}
  /\ waiting' = [waiting EXCEPT ![r] = "none"]
  /\ UNCHANGED <<publishes, jetstream, control, writers, db, backup, outbox, serving, gap, rest, budget>>

(* A power cut of nats-server: what was not synced is gone, and some       *)
(* acknowledgements may be. Nobody waits for an answer of it any more.     *)
CrashNats(s) ==
  /\ Spend("crash")
  /\ queue' = [queue EXCEPT ![s] = SubSeq(@, 1, synced[s])]
  /\ \E kept \in {acked[s] \intersect 1..synced[s], 1..purged[s]} : acked' = [acked EXCEPT ![s] = kept]
  /\ waiting' = [r \in Requests |-> IF waiting[r] = s THEN "none" ELSE waiting[r]]
  /\ UNCHANGED <<accepted, publishes, synced, purged, control, writers, db, backup, outbox, serving, gap, rest>>

-----------------------------------------------------------------------------
(* Writers. A message is <<stream, sequence number>>. It may be delivered   *)
(* to several writers, each of which may be slow, paused or dead: one may  *)
(* store it long after another did. So any message may be stored at any    *)
(* time, and be acknowledged once its events are in the database.          *)

Messages == UNION {{<<s, n>> : n \in 1..synced[s]} : s \in Streams}
EventsOf(m) == Carried[queue[m[1]][m[2]]]
MayBeHeld(m) == m[2] > purged[m[1]] \/ budget.restore = RestoresMax   \* or a restore ended the writers

New(m) == IF Ledger THEN EventsOf(m) \ db.ledger ELSE EventsOf(m)

(* What the store statement writes for these new ids. *)
WithRows(d, m, new, number) ==
  [d EXCEPT !.rows = @ \union ({m} \X new),
            !.texts = @ \union ({m} \X (IF SeparateKnown THEN new ELSE EventsOf(m))),
            !.bill = [e \in Events |-> IF e \in new THEN @[e] + 1 ELSE @[e]],
            !.commits = @ \union {[number |-> number, segment |-> m, events |-> new]}]

Store(m) ==
  /\ m \in Messages
  /\ LockedNumber /\ OneStatement
  /\ serving /\ MayBeHeld(m) /\ New(m) # {}
  /\ db' = WithRows([db EXCEPT !.ledger = @ \union New(m), !.last = @ + 1], m, New(m), db.last + 1)
  /\ UNCHANGED <<ingest, jetstream, control, writers, backup, outbox, serving, gap, rest, budget>>

(* Without LockedNumber: the number is taken first, and another statement  *)
(* may commit in between. Without OneStatement: ids are committed first.   *)
Prepare(m) ==
  /\ m \in Messages
  /\ ~(LockedNumber /\ OneStatement)
  /\ serving /\ MayBeHeld(m) /\ New(m) # {} /\ \A p \in prepared : p[1] # m
  /\ prepared' = prepared \union {<<m, db.last + 1, New(m)>>}
  /\ db' = [db EXCEPT !.last = @ + 1, !.ledger = IF OneStatement THEN @ ELSE @ \union New(m)]
  /\ UNCHANGED <<ingest, jetstream, control, late, backup, outbox, serving, gap, rest, budget>>

CommitPrepared(p) ==
  /\ serving /\ p \in prepared
  /\ LET new == IF OneStatement THEN p[3] \ db.ledger ELSE p[3] IN
     db' = IF new = {} THEN db ELSE WithRows([db EXCEPT !.ledger = @ \union new], p[1], new, p[2])
  /\ prepared' = prepared \ {p}
  /\ UNCHANGED <<ingest, jetstream, control, late, backup, outbox, serving, gap, rest, budget>>

(* An acknowledgement names a sequence number; the stream does not know    *)
(* of which delivery, or by which writer.                                  *)
Ack(m) ==
  /\ m \in Messages
  /\ m[2] \notin acked[m[1]] \union 1..purged[m[1]]
  /\ (AckAfterCommit /\ m \notin late) => (serving /\ EventsOf(m) \subseteq db.ledger)
  /\ acked' = [acked EXCEPT ![m[1]] = @ \union {m[2]}]
  /\ UNCHANGED <<ingest, queue, synced, purged, control, writers, db, backup, outbox, serving, gap, rest, budget>>

(* The janitor keeps what a restore of the backup needs: a window is as    *)
(* long as a backup gets old.                                              *)
Purge(s) ==
  /\ LET end == IF ~PurgeStoredOnly THEN synced[s]
                ELSE IF ~Window THEN AckFloor(s)
                ELSE IF backup = None THEN 0 ELSE backup.floor[s] IN
     /\ purged[s] < end
     /\ purged' = [purged EXCEPT ![s] = end]
  /\ UNCHANGED <<ingest, queue, synced, acked, control, writers, db, backup, outbox, serving, gap, rest, budget>>

(* A backup older than the window, or a window of more than half of the    *)
(* stream's bytes: only what is not stored yet is kept.                    *)
PurgeEarly(s) ==
  /\ purged[s] < AckFloor(s)
  /\ Spend("purgeEarly")
  /\ purged' = [purged EXCEPT ![s] = AckFloor(s)]
  /\ UNCHANGED <<ingest, queue, synced, acked, control, writers, db, backup, outbox, serving, gap, rest>>

-----------------------------------------------------------------------------
(* Deletion. An event that expired or was erased stays in the ledger.      *)

Without(d, e) ==
  LET segments == {row[1] : row \in {one \in d.rows : one[2] = e}} IN
  [d EXCEPT !.rows = {row \in @ : row[2] # e},
            \* An erasure follows rows: it looks into the segments of the rows that it deletes.
            !.texts = {text \in @ : ~(text[2] = e /\ text[1] \in segments)}]

(* A change with the id of an event stands for the clock of retention,     *)
(* which has passed its end: each later pass deletes it again.             *)
Expire(e) ==
  /\ serving /\ \E row \in db.rows : row[2] = e
  /\ Spend("expire")
  /\ outbox' = IF LoggedClock THEN outbox \union {e} ELSE outbox
  /\ db' = LET without == Without(db, e) IN
           IF KeepLedger THEN without ELSE [without EXCEPT !.ledger = @ \ {e}]
  /\ UNCHANGED <<ingest, jetstream, control, writers, backup, serving, gap, rest>>

BeginErasure ==
  /\ serving /\ erasure.state = "none"
  /\ Spend("erase")
  /\ erasure' = [state |-> "searching",
                 marks |-> [s \in Streams |->
                   IF EraseWaits /\ (MarkEveryStream \/ s = CHOOSE one \in Streams : TRUE) THEN Len(queue[s]) ELSE 0],
                 covered |-> \E r \in accepted : Target \in Carried[r]]
  /\ UNCHANGED <<ingest, jetstream, control, writers, db, backup, outbox, serving, gap, answered, reader>>

(* One transaction: rows, texts, and the id for the control stream.        *)
ErasePass ==
  /\ serving /\ erasure.state = "searching"
  /\ \E row \in db.rows : row[2] = Target
  /\ db' = Without(db, Target)
  /\ outbox' = outbox \union {"erased"}
  /\ UNCHANGED <<ingest, jetstream, control, writers, backup, serving, gap, rest, budget>>

EndErasure ==
  /\ serving /\ erasure.state = "searching"
  /\ \A s \in Streams : \A n \in 1..erasure.marks[s] :
       n <= Len(queue[s]) => n \in acked[s] \union 1..purged[s]
  /\ ~\E row \in db.rows : row[2] = Target
  /\ AnswerAfterControl => outbox = {}
  /\ erasure' = [erasure EXCEPT !.state = "done"]
  /\ UNCHANGED <<ingest, jetstream, control, writers, db, backup, outbox, serving, gap, answered, reader, budget>>

-----------------------------------------------------------------------------
(* Administration: one revocation stands for every change.                 *)

Revoke ==
  /\ serving /\ ~db.revoked
  /\ Spend("revoke")
  /\ db' = [db EXCEPT !.revoked = TRUE]
  /\ outbox' = outbox \union {"revoked"}
  /\ UNCHANGED <<ingest, jetstream, control, writers, backup, serving, gap, rest>>

Relay ==
  /\ serving /\ outbox # {}
  /\ control' = control \union outbox
  /\ outbox' = {}
  /\ UNCHANGED <<ingest, jetstream, writers, db, backup, serving, gap, rest, budget>>

AnswerRevocation ==
  /\ serving /\ db.revoked /\ "revoked" \notin answered
  /\ AnswerAfterControl => "revoked" \in control
  /\ answered' = answered \union {"revoked"}
  /\ UNCHANGED <<ingest, jetstream, control, writers, db, backup, outbox, serving, gap, erasure, reader, budget>>

-----------------------------------------------------------------------------
(* Backup and restore. Ingest goes on all the while.                       *)

(* The writer records in the database, now and then, how far each stream   *)
(* is stored: `floor`. `arrived` is where a restore by time would begin.   *)
Backup ==
  /\ serving /\ backup = None /\ RestoresMax > 0
  /\ \E floor \in [Streams -> 0..PublishesMax] :
       /\ \A s \in Streams : floor[s] <= AckFloor(s)
       /\ backup' = [database |-> db, outbox |-> outbox, floor |-> floor, arrived |-> [s \in Streams |-> Len(queue[s])]]
  /\ UNCHANGED <<ingest, jetstream, control, writers, db, outbox, serving, gap, rest, budget>>

Start(s) == IF FloorOfDatabase THEN backup.floor[s] ELSE backup.arrived[s]

LoseAndRestore ==
  /\ backup # None /\ Spend("restore")
  /\ db' = backup.database /\ outbox' = backup.outbox
  /\ serving' = FALSE
  /\ late' = IF FreshWriters THEN {} ELSE {m \in Messages : EventsOf(m) \subseteq db.ledger}
  /\ prepared' = {}
  /\ acked' = IF ResetConsumer THEN [s \in Streams |-> acked[s] \intersect 1..Start(s)] ELSE acked
  /\ gap' = IF NameGap THEN gap \union UNION {{queue[s][n] : n \in (Start(s) + 1)..purged[s]} : s \in Streams} ELSE gap
  /\ UNCHANGED <<ingest, queue, synced, purged, control, backup, rest>>

(* What the control stream says, then numbers that no reader has seen.     *)
Repaired(d, last) ==
  LET erased == IF "erased" \in control
                THEN [Without(d, Target) EXCEPT
                        !.ledger = @ \union {Target},
                        !.bill[Target] = IF Target \in d.ledger THEN @ ELSE @ + 1]
                ELSE d
  IN [erased EXCEPT !.revoked = @ \/ "revoked" \in control, !.last = IF NewNumbers THEN last ELSE @]

Repair ==
  /\ ~serving
  /\ db' = IF ControlFirst THEN Repaired(db, PublishesMax * 2) ELSE [db EXCEPT !.last = PublishesMax * 2]
  /\ serving' = TRUE
  /\ UNCHANGED <<ingest, jetstream, control, writers, backup, outbox, gap, rest, budget>>

-----------------------------------------------------------------------------
(* A live stream reads the commit with the next higher number. It knows    *)
(* its position if that commit still has its segment.                      *)

Known == ~CheckPosition \/ reader.number = 0 \/ \E c \in db.commits : c.number = reader.number /\ c.segment = reader.segment
Unread == {c \in db.commits : c.number > reader.number}

Read ==
  /\ HasReader /\ serving /\ Known /\ Unread # {}
  /\ LET c == CHOOSE one \in Unread : \A other \in Unread : one.number <= other.number IN
     reader' = [reader EXCEPT !.number = c.number, !.segment = c.segment,
                              !.seen = [e \in Events |-> IF e \in c.events THEN @[e] + 1 ELSE @[e]]]
  /\ UNCHANGED <<ingest, jetstream, control, writers, db, backup, outbox, serving, gap, erasure, answered, budget>>

TellGap ==
  /\ HasReader /\ serving /\ ~Known /\ ~reader.told
  /\ reader' = [reader EXCEPT !.told = TRUE]
  /\ UNCHANGED <<ingest, jetstream, control, writers, db, backup, outbox, serving, gap, erasure, answered, budget>>

-----------------------------------------------------------------------------
Next ==
  \/ \E r \in Requests, s \in Streams : Publish(r, s)
  \/ \E s \in Streams : Sync(s) \/ CrashNats(s) \/ Purge(s) \/ PurgeEarly(s)
  \/ \E r \in Requests : AnswerEarly(r)
  \/ \E s \in Streams, n \in 1..PublishesMax : Store(<<s, n>>) \/ Prepare(<<s, n>>) \/ Ack(<<s, n>>)
  \/ \E p \in prepared : CommitPrepared(p)
  \/ \E e \in Events : Expire(e)
  \/ BeginErasure \/ ErasePass \/ EndErasure
  \/ Revoke \/ Relay \/ AnswerRevocation
  \/ Backup \/ LoseAndRestore \/ Repair
  \/ Read \/ TellGap

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* The invariants of the fault matrix.                                     *)

InQueue(e) == \E s \in Streams : \E n \in (purged[s] + 1)..synced[s] :
                n \notin acked[s] /\ e \in Carried[queue[s][n]]
Stored(e) == db.bill[e] > 0     \* it has a row, or had one until it expired or was erased

(* A 202 is kept: stored, or in the queue, or named by a restore.          *)
NothingLost ==
  serving => \A r \in accepted : \A e \in Carried[r] : Stored(e) \/ InQueue(e) \/ \E g \in gap : e \in Carried[g]

NothingDoubled == \A e \in Events : Cardinality({row \in db.rows : row[2] = e}) <= 1
BilledOnce == \A e \in Events : db.bill[e] <= 1

(* A restore from a backup that the window reaches loses nothing.          *)
NoGapWithinWindow == budget.purgeEarly = EarlyPurgesMax => gap = {}

(* Whatever was accepted before an erasure began is nowhere after its end, *)
(* or goes with the next pass of retention.                                *)
ErasedIsGone ==
  (serving /\ erasure.state = "done" /\ erasure.covered /\ Target \notin control) =>
    ~\E text \in db.texts : text[2] = Target

RevokedStays == (serving /\ "revoked" \in answered) => db.revoked

SeenOnce == reader.told \/ \A e \in Events : reader.seen[e] <= 1

(* What lies before a known position was seen.                             *)
NothingSkipped ==
  (serving /\ HasReader /\ Known /\ ~reader.told) =>
    \A c \in db.commits : c.number <= reader.number => \A e \in c.events : reader.seen[e] >= 1
=============================================================================
