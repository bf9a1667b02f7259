"""replay.py: performs the collectives and messages that a program text lists, over torch.distributed.

usage: torchrun --nproc_per_node=N replay.py [FILE] [--backend=gloo|nccl] [--limit=30m]
                                             [--steps-check] [--monitored-barrier] [--diverge]

The text is in the environment variable REPLAY, or in FILE; program.h describes it. The program has no code for
rankfault. --limit: the time limit of the groups. Two defences act before each step, that is each iteration of
an outermost repeat. --steps-check: every rank compares with the others how many collectives of each group it
made, and which one is next; it acts before the end, too. --monitored-barrier: the barrier of torch.distributed
that names the absent ranks. A failed call ends the rank with status 3, a bad text with status 64.
"""
import argparse
import collections
import datetime
import gc
import inspect
import json
import os
import sys
import time

import torch
import torch.distributed as dist

from replay_text import MESSAGES, REDUCTIONS, BadText, Program, duration

# PyTorch 2.13 has new names for them.
all_gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
reduce_scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
IS_PYTORCH_1 = torch.__version__.startswith("1.")


class Replay:
    """Performs the statements of this rank."""

    def __init__(self, program, options):
        self.program, self.options = program, options
        self.rank, self.size = int(os.environ["RANK"]), program.size
        self.form = "diverging" if options.diverge else "healthy"
        self.limit = datetime.timedelta(seconds=options.limit)
        self.device, self.groups, self.gloo = "cpu", {"world": None}, None
        self.made = collections.Counter()  # by group: the collectives
        self.step = self.checks = 0
        self.free, self.pending = collections.defaultdict(list), []

    def leave(self, message):
        sys.stderr.write(message + "\n")
        sys.stderr.flush()
        os._exit(3)

    def guarded(self, what, call):
        try:
            return call()
        except Exception as error:  # any: the job is over
            reason = (str(error) or type(error).__name__).splitlines()[0]
            return self.leave(f"rank {self.rank}: step {self.step}: {what}: {reason}")

    def meet(self):
        if self.options.backend == "nccl":
            self.device = f"cuda:{int(os.environ.get('LOCAL_RANK', self.rank)) % torch.cuda.device_count()}"
            torch.cuda.set_device(self.device)
        dist.init_process_group(self.options.backend, timeout=self.limit)
        with_names = "group_desc" in inspect.signature(dist.new_group).parameters
        for name, members in list(self.program.groups.items())[1:]:
            named = {"group_desc": name} if with_names else {}
            self.groups[name] = dist.new_group(sorted(members), timeout=self.limit, **named)
        if self.options.monitored_barrier:
            self.gloo = None if self.options.backend == "gloo" else dist.new_group(backend="gloo", timeout=self.limit)

    def run(self):
        self.guarded("init on world", self.meet)
        position, loops, statements = 0, [], self.program.statements
        while position < len(statements):
            s = statements[position]
            if s.op == "repeat":
                loops.append([position, s.times])
                self.begin_step(loops, position)
            elif s.op == "end":
                if len(loops) == 1:
                    self.commit_step()
                loops[-1][1] -= 1
                if loops[-1][1]:
                    position = loops[-1][0]
                    self.begin_step(loops, position)
                else:
                    loops.pop()
            elif s.is_of(self.rank, self.form):
                self.guarded(f"{s.text.split()[0]} on {s.group}", lambda call=s: self.perform(call))
            position += 1
        self.guarded("wait on world", self.wait)
        if self.options.steps_check:
            self.check_steps(position, is_last=True)
        gc.collect()  # the workers of Gloo must end before the interpreter
        self.guarded("destroy on world", dist.destroy_process_group)

    def begin_step(self, loops, position):
        if len(loops) != 1:
            return
        if self.options.steps_check:
            self.check_steps(position)
        if self.options.monitored_barrier:
            try:
                dist.monitored_barrier(self.gloo, self.limit, wait_all_ranks=True)
            except Exception as error:  # any: the job is over
                self.leave(f"defence monitored-barrier: {str(error).splitlines()[0]}")
        self.step += 1
        self.say("begins")

    def commit_step(self):
        if self.device != "cpu":
            self.guarded("synchronize on world", torch.cuda.synchronize)
        self.say("committed")

    def say(self, what):
        sys.stdout.write(f"rank {self.rank} {what} step {self.step}\n")  # in one piece: the ranks share a pipe
        sys.stdout.flush()

    def perform(self, s):
        if s.op == "pause":
            time.sleep(s.seconds)
        elif s.op == "wait":
            self.wait()
        else:
            self.made[s.group] += s.is_collective()
            tensors = []
            work = self.ask(s, lambda elements: self.tensor(elements, s.dtype, tensors))
            if work is not None and s.is_pending:
                self.pending.append((work, tensors))
            else:
                self.give_back(tensors)

    def tensor(self, elements, dtype, tensors):
        if dtype == "bfloat16" and IS_PYTORCH_1 and self.device == "cpu":
            dtype = "float16"  # as large, and its Gloo knows it
        free = self.free[elements, dtype]
        tensors.append(free.pop() if free else torch.zeros(elements, dtype=getattr(torch, dtype), device=self.device))
        return tensors[-1]

    def give_back(self, tensors):
        for tensor in tensors:
            self.free[tensor.numel(), str(tensor.dtype).removeprefix("torch.")].append(tensor)

    def wait(self):
        while self.pending:
            work, tensors = self.pending.pop(0)
            work.wait()
            self.give_back(tensors)

    def ask(self, s, new):
        group, later, count = self.groups[s.group], s.is_pending, s.count
        members = sorted(self.program.groups[s.group])
        parts, is_root = len(members), self.rank == s.peer
        whole = -(-count // parts) * parts  # what all members can share evenly
        how = {"group": group, "async_op": later}
        reduce = getattr(dist.ReduceOp, REDUCTIONS[s.reduction])
        if s.op in MESSAGES:
            return getattr(dist, s.op)(new(count), s.peer, group, s.tag)
        if s.op == "barrier":
            return dist.barrier(**how)
        if s.op == "all_reduce":
            return dist.all_reduce(new(count), reduce, **how)
        if s.op == "broadcast":
            return dist.broadcast(new(count), s.peer, **how)
        if s.op == "reduce":
            return dist.reduce(new(count), s.peer, reduce, **how)
        if s.op == "gather":
            return dist.gather(new(count), all_parts(new, count, parts) if is_root else None, s.peer, **how)
        if s.op == "scatter":
            return dist.scatter(new(count), all_parts(new, count, parts) if is_root else None, s.peer, **how)
        if s.op == "all_gather" and IS_PYTORCH_1 and self.device == "cpu":  # its Gloo gathers into lists alone
            return dist.all_gather(all_parts(new, count, parts), new(count), **how)
        if s.op == "all_gather":
            return all_gather(new(count * parts), new(count), **how)
        if s.op == "reduce_scatter":
            return reduce_scatter(new(whole // parts), new(whole), reduce, **how)
        if s.op == "all_to_all":
            return dist.all_to_all_single(new(whole), new(whole), **how)
        # Each rank gives an equal share to the others and keeps the remainder: no message settles the parts.
        shares = [count // parts + (count % parts if rank == self.rank else 0) for rank in members]
        return dist.all_to_all_single(new(count), new(count), shares, shares, **how)

    def check_steps(self, position, is_last=False):
        try:
            self.compare_steps(position, is_last)
        except Exception as error:  # any: the job is over
            self.leave(f"defence step-check: {str(error).splitlines()[0]}")

    def compare_steps(self, position, is_last):
        """Compares what each member of a group made on it, and the statement that its next collective is."""
        self.checks += 1
        store = dist.PrefixStore(f"step-check/{self.checks}", dist.distributed_c10d._get_default_store())
        keys = [str(rank) for rank in range(self.size)]
        mine = {g: [self.made[g], self.next_text(g, position)] for g in self.groups}
        store.set(str(self.rank), json.dumps(mine))
        try:
            store.wait(keys, self.limit)
        except RuntimeError:
            silent = ",".join(key for key in keys if not self.has(store, key))
            self.leave(f"defence step-check: ranks {silent} do not answer within {self.options.limit:g} s")
        answers = [json.loads(store.get(key)) for key in keys]
        for name, members in self.program.groups.items():
            for field, verb, noun in ((0, "made", " calls"), (1, "make next:", "")):
                said = {rank: answers[rank][name][field] for rank in sorted(members)}
                usual = collections.Counter(said.values()).most_common(1)[0][0]
                other = next((value for value in said.values() if value != usual), None)
                if other is not None:
                    ranks = ",".join(str(rank) for rank, value in said.items() if value == other)
                    self.leave(f"defence step-check: ranks {ranks} {verb} {other}{noun} on {name}, the others {usual}")
        if is_last:  # the rank with the store leaves last
            store.add("read", 1)
            until = time.monotonic() + self.options.limit
            while self.rank == 0 and store.add("read", 0) < self.size and time.monotonic() < until:
                time.sleep(0.01)

    def has(self, store, key):
        if not IS_PYTORCH_1:
            return store.check([key])
        try:  # it has no check()
            store.wait([key], datetime.timedelta(milliseconds=10))
        except RuntimeError:
            return False
        return True

    def next_text(self, group, position):
        for s in self.program.statements[position:]:
            if s.group == group and s.is_collective() and s.is_of(self.rank, self.form):
                return s.text
        return "nothing"


def all_parts(new, count, parts):
    return list(new(count * parts).view(parts, count).unbind(0))


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?")
    parser.add_argument("--backend", choices=("gloo", "nccl"), default="gloo")
    parser.add_argument("--limit", type=duration, default=1800.0)
    parser.add_argument("--steps-check", action="store_true")
    parser.add_argument("--monitored-barrier", action="store_true")
    parser.add_argument("--diverge", action="store_true", help="perform the lines that begin with 'diverging'")
    return parser.parse_args()


def read_program(options):
    text = os.environ.get("REPLAY")
    if text is None:
        if not options.file:
            raise BadText("the job has no text: set REPLAY or name a file")
        with open(options.file, encoding="utf-8", errors="replace") as file:
            text = file.read()
    program = Program(text)
    if not {"RANK", "WORLD_SIZE"} <= os.environ.keys():
        raise BadText("RANK and WORLD_SIZE are not set")
    if int(os.environ["WORLD_SIZE"]) != program.size:
        raise BadText(f"line 1: the text is for {program.size} ranks, and this job has {os.environ['WORLD_SIZE']}")
    if IS_PYTORCH_1 and options.backend == "gloo" and any(s.op == "reduce_scatter" for s in program.statements):
        raise BadText(f"reduce_scatter over Gloo needs PyTorch 2, and this is {torch.__version__}")
    return program


def main():
    try:
        options = parse_options()
        program = read_program(options)
    except (BadText, OSError) as error:
        print(f"replay: {error}", file=sys.stderr)
        return 64
    torch.set_num_threads(1)
    Replay(program, options).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
