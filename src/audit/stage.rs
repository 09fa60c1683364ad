//! Asking: one question until it has a reply or cannot have one, and the run in as many windows as the
//! judge needs.

use std::sync::Arc;

use super::draft::stopped;
use super::room::{FIXED_TOKENS, Window, tokens};
use super::window::Measured;
use super::{Answer, Ask, AskId, Audit, Method, Previous, Question, RunView, Verdict, room, sizing};
use crate::reply::StageReply;
use crate::trajectory::{Span, Stage, Trajectory, Warning};

/// How often a request that overflowed the judge's window is made smaller before the stage fails. Where
/// an endpoint does not say what its window holds, each time halves it.
const MAX_SHRINKS: u8 = 16;
/// One part in so many of a window may go to the task; a longer one is shown by its two ends.
const TASK_PART: usize = 6;

/// What can be said of something that a judge is asked now.
pub(super) enum Step<T> {
    /// These questions come first; empty when all of them are under way.
    Waiting(Vec<Ask>),
    Done(T),
    Stopped(Box<Verdict>),
}

/// A reply with what is known about how it was had.
pub(super) struct Replied {
    pub(super) reply: StageReply,
    pub(super) notes: Vec<Warning>,
    pub(super) window: Window,
}

/// All replies to a question about the whole run, window by window.
pub(super) struct ReadRun {
    pub(super) replies: Vec<Replied>,
    /// What was shown for each of them.
    pub(super) views: Vec<RunView>,
    /// The window as it is known by now.
    pub(super) window: Window,
}

impl Audit {
    /// Asks until there is a reply or cannot be one. A reply that does not read is asked for once more
    /// with its error, a cut one once more with twice the room, and a request that does not fit the
    /// window is made smaller until it fits or nothing worth a question is left of it.
    pub(super) fn ask_part(
        &self,
        stage: Stage,
        part: u32,
        mut window: Window,
        question: &dyn Fn(Window) -> Question,
    ) -> Step<Replied> {
        let may_ask_again = self.settings.method != Method::Paper;
        let (mut asked_again, mut shrinks, mut attempt) = (false, 0, 0_u8);
        let mut previous = None;
        loop {
            let id = self.ask_id(stage, part, attempt);
            let Some(answer) = self.answers.get(&id) else {
                if self.handed_out.contains(&id) {
                    return Step::Waiting(Vec::new());
                }
                let ask = Ask {
                    id,
                    question: question(window),
                    previous,
                    max_output: window.output,
                };
                return Step::Waiting(vec![ask]);
            };
            let next = match answer {
                Answer::Reply { reply, notes } => {
                    return Step::Done(Replied {
                        reply: reply.clone(),
                        notes: notes.clone(),
                        window,
                    });
                }
                Answer::Unreadable { text, error } if !asked_again => {
                    asked_again = true;
                    previous = Some(Previous {
                        text: text.clone(),
                        error: error.clone(),
                    });
                    Some(window)
                }
                Answer::Truncated { .. } if !asked_again => {
                    asked_again = true;
                    previous = None;
                    Some(window.with_twice_the_output())
                }
                Answer::Overflow { limit, needed } if shrinks < MAX_SHRINKS => {
                    shrinks += 1;
                    let sent = self.size(&question(window));
                    let next = window.after_overflow(sent, *limit, *needed);
                    let is_less = next.output < window.output / 4 * 3 || self.size(&question(next)) < sent;
                    is_less.then_some(next)
                }
                _ => None,
            };
            window = match next {
                Some(next) if may_ask_again => next,
                _ => return Step::Stopped(Box::new(stopped(stage, answer, u32::from(attempt) + 1))),
            };
            attempt += 1;
        }
    }

    /// Asks about the whole run: in one piece if it fits, else in windows. The first window is asked
    /// alone: what an endpoint says of its size holds for the others, which are then asked all at once.
    pub(super) fn read_run(&self, stage: Stage, question: &dyn Fn(RunView, Window) -> Question) -> Step<ReadRun> {
        let begin = Window::new(self.settings.context_window, self.settings.max_output);
        let first = self.ask_part(stage, 0, begin, &|window| question(self.view(window, 0), window));
        let first = match first {
            Step::Done(first) => first,
            Step::Waiting(asks) => return Step::Waiting(asks),
            Step::Stopped(verdict) => return Step::Stopped(verdict),
        };
        let window = first.window;
        let plan = self.plan(window);
        let mut read = ReadRun {
            replies: vec![first],
            views: plan.iter().take(1).cloned().collect(),
            window,
        };
        let (mut asks, mut open) = (Vec::new(), false);
        for (part, view) in (0_u32..).zip(plan.iter()).skip(1) {
            let shown = |smaller: Window| {
                if smaller == window {
                    view.clone()
                } else {
                    self.shrunk(view, smaller)
                }
            };
            match self.ask_part(stage, part, window, &|smaller| question(shown(smaller), smaller)) {
                Step::Done(replied) => {
                    read.views.push(shown(replied.window));
                    read.replies.push(replied);
                }
                Step::Waiting(more) => {
                    open = true;
                    asks.extend(more);
                }
                // The first failure in the order of the run is the stage's, whatever order they came in.
                Step::Stopped(verdict) if !open => return Step::Stopped(verdict),
                Step::Stopped(_) => break,
            }
        }
        if open { Step::Waiting(asks) } else { Step::Done(read) }
    }

    fn ask_id(&self, stage: Stage, part: u32, attempt: u8) -> AskId {
        AskId {
            input: self.settings.input,
            case_id: self.run.case_id().to_owned(),
            method: self.settings.method,
            judge: self.settings.judge,
            stage,
            part,
            attempt,
            repeat: self.settings.repeat,
        }
    }

    pub(super) fn measured(&self) -> Measured<'_> {
        let sizes = self.worked.sizes.get_or_init(|| super::window::sizes(&self.run));
        Measured { run: &self.run, sizes }
    }

    /// Tokens for the run's text in a prompt that holds the task and what the user knows.
    fn room(&self, window: Window) -> Option<usize> {
        window.room_beside(self.beside(window))
    }

    /// Tokens of the task and of what the user knows.
    pub(super) fn beside(&self, window: Window) -> usize {
        let reference = self.settings.user.reference_answer.as_deref().map_or(0, tokens);
        reference + tokens(self.asked_about(window).question())
    }

    fn plan(&self, window: Window) -> Arc<Vec<RunView>> {
        let room = self.room(window).filter(|_| self.settings.method != Method::Paper);
        let made = || match room {
            None => vec![RunView::whole(&self.run)],
            Some(room) => self.measured().windows(room),
        };
        self.worked.plans.get_or_make(room, made)
    }

    fn view(&self, window: Window, part: usize) -> RunView {
        self.plan(window)
            .get(part)
            .cloned()
            .unwrap_or_else(|| RunView { spans: Vec::new() })
    }

    fn shrunk(&self, view: &RunView, window: Window) -> RunView {
        match self.room(window) {
            None => view.clone(),
            Some(room) => self.measured().shrunk(view, room),
        }
    }

    /// Tokens that a question is taken for.
    fn size(&self, question: &Question) -> usize {
        let reference = self.settings.user.reference_answer.as_deref().map_or(0, tokens);
        let common = FIXED_TOKENS + reference + tokens(question.run().question());
        common
            + match question {
                Question::Keeper(q) => self.measured().tokens(&q.view),
                Question::Bare(q) => self.measured().tokens(&q.view),
                Question::Gd(q) => self.measured().tokens(&q.view),
                Question::Seeker(q) => sizing::ledger(&q.ledger) + sizing::packet(&self.run, &q.packet),
                Question::Tracer(q) => {
                    sizing::ledger(&q.ledger) + sizing::support(&q.support) + sizing::packet(&self.run, &q.packet)
                }
            }
    }

    /// The run as questions name it: with a task that is longer than its part of the window, a run whose
    /// task is shown by its two ends. Spans are the same.
    pub(super) fn asked_about(&self, window: Window) -> Arc<Trajectory> {
        let question = self.run.question();
        let most = window
            .size()
            .filter(|_| self.settings.method != Method::Paper)
            .map(|size| size / TASK_PART);
        let Some(most) = most.filter(|most| tokens(question) > *most) else {
            return self.run.clone();
        };
        let made = || {
            let (head, tail) = (room::head(question, most / 3 * 2), room::tail(question, most / 3));
            let gap = question.get(head..tail).map_or(0, |left_out| left_out.chars().count());
            let (head, tail) = (question.get(..head).unwrap_or(""), question.get(tail..).unwrap_or(""));
            let task = format!("{head}\n[… {gap} characters left out …]\n{tail}");
            let spans: Vec<Span> = self.run.spans().to_vec();
            Trajectory::new(self.run.case_id(), task, spans).0
        };
        self.worked.tasks.get_or_make(Some(most), made)
    }
}
